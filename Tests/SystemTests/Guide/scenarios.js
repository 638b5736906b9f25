"use strict";
// What an app does with its screens, and each row of the tables of errors. A scenario gets an app: the calls of a client, an
// address, and its mailbox.

const assert = require("node:assert/strict");

const PASSWORD = "SecurePass1";
const NEW_PASSWORD = "NewSecurePass1";

/** The call fails with this status and code. Gives the error of the answer. */
async function refused(call, status, code) {
  let answer;
  try {
    await call;
  } catch (error) {
    if (!error.response) throw error;
    answer = error.response;
  }
  assert.ok(answer, `answered well, and not with ${code}`);
  assert.equal(`${answer.status} ${answer.data.error.code}`, `${status} ${code}`);
  assert.equal(answer.data.success, false);
  return { ...answer.data.error, headers: answer.headers };
}

const other = (code) => (code === "000000" ? "000001" : "000000");

async function verify(app) {
  assert.equal(await app.sendCode(app.email, "email_verification"), 300);
  await app.confirmEmailCode(app.email, await app.code());
}

/** From the session's token to an account. Gives what `complete` answered. */
async function complete(app, token, isVerified) {
  const session = (await app.request("GET", "/api/onboarding/session", undefined, token)).data.data.session;
  assert.equal(session.email, app.email);
  assert.equal(session.emailVerifiedAt !== null, isVerified);
  await app.request("PATCH", "/api/onboarding/session", { displayName: "Ann" }, token);
  const completed = await app.request("POST", "/api/onboarding/complete", {}, token);
  assert.equal(completed.status, 201);
  return completed.data.data;
}

/** Signs in, and looks at the user. */
async function signIn(app, password, isVerified) {
  const tokens = (await app.request("POST", "/api/auth/login", { email: app.email, password })).data.data;
  const user = (await app.request("GET", "/api/auth/me", undefined, tokens.accessToken)).data.data.user;
  assert.equal(user.email, app.email);
  assert.equal(user.emailVerifiedAt !== null, isVerified);
  return tokens;
}

async function account(app) {
  return complete(app, await app.startOnboardingSession({ email: app.email, password: PASSWORD }), false);
}

async function resetToken(app, count) {
  await app.forgotPassword(app.email);
  return app.verifyResetCode(app.email, await app.code(count));
}

const orders = {
  "the code is confirmed before the session": async (app) => {
    await verify(app);
    await complete(app, await app.startOnboardingSession({ email: app.email, password: PASSWORD }), true);
    await signIn(app, PASSWORD, true);
  },
  "the code comes with the session": async (app) => {
    await app.sendCode(app.email, "email_verification");
    const input = { email: app.email, password: PASSWORD, code: await app.code() };
    await complete(app, await app.startOnboardingSession(input), true);
    await signIn(app, PASSWORD, true);
  },
  "the session comes first": async (app) => {
    const token = await app.startOnboardingSession({ email: app.email, password: PASSWORD });
    await verify(app);
    await complete(app, token, true);
    await signIn(app, PASSWORD, true);
  },
  "the code is confirmed when all else is done": async (app) => {
    await account(app);
    await verify(app);
    await signIn(app, PASSWORD, true);
  },
  "no code at all": async (app) => {
    await account(app);
    await signIn(app, PASSWORD, false);
  },
  "a password is reset": async (app) => {
    const before = await account(app);
    const token = await resetToken(app, 1);
    await app.resetPassword(token, NEW_PASSWORD);
    await refused(app.request("POST", "/api/auth/refresh", { refreshToken: before.refreshToken }), 401, "REFRESH_TOKEN_INVALID");
    await refused(app.request("GET", "/api/auth/me", undefined, before.accessToken), 401, "UNAUTHENTICATED");
    await refused(app.request("POST", "/api/auth/login", { email: app.email, password: PASSWORD }), 401, "INVALID_CREDENTIALS");
    // The mailbox was proven.
    await signIn(app, NEW_PASSWORD, true);
  },
  "a code for a reset is asked for as any other": async (app) => {
    await account(app);
    await app.sendCode(app.email, "password_reset");
    await app.resetPassword(await app.verifyResetCode(app.email, await app.code()), NEW_PASSWORD);
    await signIn(app, NEW_PASSWORD, true);
  },
  "nobody is told that an address has no account": async (app) => {
    const unknown = await app.request("POST", "/api/auth/forgot-password", { email: app.email });
    assert.equal(unknown.status, 200);
    await account(app);
    const known = await app.request("POST", "/api/auth/forgot-password", { email: app.email });
    assert.deepEqual(known.data, unknown.data);
    assert.equal(known.data.message, "If an account exists for that email, a reset code has been sent.");
  },
};

const errors = {
  "too many codes are asked for": async (app) => {
    for (let number = 0; number < 20; number++) await app.sendCode(`${number}.${app.email}`, "email_verification");
    const error = await refused(app.sendCode(app.email, "email_verification"), 429, "RATE_LIMITED");
    assert.match(error.message, /^Too many requests\. Try again in (1 minute|\d+ minutes)\.$/);
    assert.ok(Number(error.headers["retry-after"]) >= 1);
  },
  "the code is wrong, used, or replaced": async (app) => {
    await app.sendCode(app.email, "email_verification");
    const code = await app.code();
    const error = await refused(app.confirmEmailCode(app.email, other(code)), 400, "INVALID_OTP");
    assert.equal(error.message, "Invalid or expired verification code.");
    await app.confirmEmailCode(app.email, code);
    await refused(app.confirmEmailCode(app.email, code), 400, "INVALID_OTP");
    await app.sendCode(app.email, "email_verification");
    const second = await app.code(2);
    await app.sendCode(app.email, "email_verification");
    const third = await app.code(3);
    if (second !== third) await refused(app.confirmEmailCode(app.email, second), 400, "INVALID_OTP");
    const input = { email: app.email, password: PASSWORD, code: other(third) };
    await refused(app.startOnboardingSession(input), 400, "INVALID_OTP");
  },
  "three codes are wrong": async (app) => {
    await app.sendCode(app.email, "email_verification");
    const code = await app.code();
    for (let number = 0; number < 2; number++) await refused(app.confirmEmailCode(app.email, other(code)), 400, "INVALID_OTP");
    await refused(app.confirmEmailCode(app.email, other(code)), 400, "MAX_ATTEMPTS_EXCEEDED");
    await refused(app.confirmEmailCode(app.email, code), 400, "INVALID_OTP");
  },
  "the address has an account": async (app) => {
    await account(app);
    await refused(app.startOnboardingSession({ email: app.email, password: PASSWORD }), 409, "ACCOUNT_EXISTS");
  },
  "the code for a reset is wrong, or nobody's": async (app) => {
    await account(app);
    await app.forgotPassword(app.email);
    const code = await app.code();
    await refused(app.verifyResetCode(app.email, other(code)), 400, "INVALID_OTP");
    const nobody = `nobody.${app.email}`;
    await app.forgotPassword(nobody);
    const error = await refused(app.verifyResetCode(nobody, code), 400, "INVALID_OTP");
    assert.equal(error.message, "Invalid or expired verification code.");
    await app.verifyResetCode(app.email, code);
    await refused(app.verifyResetCode(app.email, code), 400, "INVALID_OTP");
  },
  "three codes for a reset are wrong": async (app) => {
    await account(app);
    await app.forgotPassword(app.email);
    const code = await app.code();
    for (let number = 0; number < 2; number++) await refused(app.verifyResetCode(app.email, other(code)), 400, "INVALID_OTP");
    await refused(app.verifyResetCode(app.email, other(code)), 400, "MAX_ATTEMPTS_EXCEEDED");
    await refused(app.verifyResetCode(app.email, code), 400, "INVALID_OTP");
  },
  "the reset token is used or unknown": async (app) => {
    await account(app);
    const token = await resetToken(app, 1);
    await app.resetPassword(token, NEW_PASSWORD);
    const error = await refused(app.resetPassword(token, PASSWORD), 400, "RESET_TOKEN_INVALID");
    assert.equal(error.message, "Reset session expired. Start over.");
    await refused(app.resetPassword("MFRkXNeverIssued", PASSWORD), 400, "RESET_TOKEN_INVALID");
  },
  "the new password is weak": async (app) => {
    await account(app);
    const token = await resetToken(app, 1);
    const error = await refused(app.resetPassword(token, "weak"), 400, "VALIDATION_ERROR");
    // Too short, no capital, no digit: one message each.
    assert.deepEqual(error.fields.map((field) => field.path), ["newPassword", "newPassword", "newPassword"]);
    await app.resetPassword(token, NEW_PASSWORD);
  },
  "one address asks too often about resets": async (app) => {
    for (let number = 0; number < 5; number++) await app.forgotPassword(`${number}.${app.email}`);
    await refused(app.forgotPassword(app.email), 429, "RATE_LIMITED");
    for (let number = 0; number < 10; number++) {
      await refused(app.verifyResetCode(`${number}.${app.email}`, "123456"), 400, "INVALID_OTP");
    }
    await refused(app.verifyResetCode(app.email, "123456"), 429, "RATE_LIMITED");
    for (let number = 0; number < 10; number++) {
      await refused(app.resetPassword(`MFRkXNeverIssued${number}`, NEW_PASSWORD), 400, "RESET_TOKEN_INVALID");
    }
    const error = await refused(app.resetPassword("MFRkXNeverIssued", NEW_PASSWORD), 429, "RATE_LIMITED");
    assert.ok(Number(error.headers["retry-after"]) > 60);
  },
};

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** For a system where codes and tokens are good for two seconds. */
const lateness = {
  "the code has expired": async (app) => {
    assert.equal(await app.sendCode(app.email, "email_verification"), 2);
    const code = await app.code();
    await pause(2.1);
    await refused(app.confirmEmailCode(app.email, code), 400, "INVALID_OTP");
  },
  "the code for a reset and the reset token have expired": async (app) => {
    await account(app);
    await app.forgotPassword(app.email);
    const code = await app.code();
    await pause(2.1);
    await refused(app.verifyResetCode(app.email, code), 400, "INVALID_OTP");
    for (let count = 2; count <= 5; count++) {
      let token;
      try {
        token = await resetToken(app, count);
      } catch (error) {
        // The machine was slower than the code.
        if (error.response?.data.error.code === "INVALID_OTP") continue;
        throw error;
      }
      await pause(2.1);
      await refused(app.resetPassword(token, NEW_PASSWORD), 400, "RESET_TOKEN_INVALID");
      return;
    }
    assert.fail("no code was in time");
  },
};

module.exports = { orders, errors, lateness };
