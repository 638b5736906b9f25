"use strict";
// The calls of an app, once for each way in which an app makes them. A call that fails rejects with an error that has a
// `response` with `status` and `data`, as those of axios do.

const { execFile } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { axiosHelpers, curlCommands } = require("./document");

const HEADERS = { "X-Client-Type": "mobile", "Content-Type": "application/json" };

class Refused extends Error {
  constructor(response) {
    super(`status ${response.status} ${JSON.stringify(response.data)}`);
    this.response = response;
  }
}

/** Named as in the guide; everything by `request(method, path, body, token)`, which gives status, data and headers. */
function helpers(request) {
  return {
    sendCode: async (identifier, purpose) =>
      (await request("POST", "/api/verification/send", { channel: "email", identifier, purpose })).data.data.expiresIn,
    confirmEmailCode: async (identifier, code) => {
      await request("POST", "/api/verification/confirm", { identifier, code, purpose: "email_verification" });
    },
    startOnboardingSession: async (input) =>
      (await request("POST", "/api/onboarding/session", input)).data.data.onboardingToken,
    forgotPassword: async (email) => {
      await request("POST", "/api/auth/forgot-password", { email });
    },
    verifyResetCode: async (email, code) =>
      (await request("POST", "/api/auth/verify-reset-code", { email, code })).data.data.resetToken,
    resetPassword: async (resetToken, newPassword) => {
      await request("POST", "/api/auth/reset-password", { resetToken, newPassword });
    },
  };
}

/** The snippets of the document where it is given; otherwise the same calls. */
function axiosClient(url, document) {
  const axios = require("axios");
  // Through which proxies an app goes is none of its business.
  const from = (address) => {
    axios.defaults.headers.common["X-Forwarded-For"] = address;
  };
  const request = (method, target, data, token) =>
    axios.request({ method, url: url + target, data, headers: token ? { ...HEADERS, Authorization: `Bearer ${token}` } : HEADERS });
  return { ...(document ? axiosHelpers(document, axios, url) : helpers(request)), request, from };
}

function fetchClient(url) {
  let address;
  const request = async (method, target, data, token) => {
    const headers = { ...HEADERS, "X-Forwarded-For": address };
    if (token) headers.Authorization = `Bearer ${token}`;
    const answer = await fetch(url + target, { method, headers, body: data === undefined ? undefined : JSON.stringify(data) });
    const response = { status: answer.status, data: await answer.json(), headers: Object.fromEntries(answer.headers) };
    if (!answer.ok) throw new Refused(response);
    return response;
  };
  return { ...helpers(request), request, from: (value) => (address = value) };
}

/** The command lines of the document where it is given, and others like them. */
function curlClient(url, document, folder) {
  const from = (address) => {
    const lines = ["silent", "show-error", "include", `header = "X-Forwarded-For: ${address}"`];
    fs.writeFileSync(path.join(folder, ".curlrc"), lines.join("\n") + "\n");
  };
  const run = (file, words) =>
    new Promise((resolve, reject) => {
      execFile(file, words, { env: { ...process.env, CURL_HOME: folder } }, (error, output, errors) => {
        if (error) return reject(new Error(errors));
        const [head, body] = output.split("\r\n\r\n");
        const [first, ...fields] = head.split("\r\n");
        const headers = Object.fromEntries(fields.map((field) => field.split(": ")).map(([name, value]) => [name.toLowerCase(), value]));
        const response = { status: Number(first.split(" ")[1]), data: JSON.parse(body), headers };
        return response.status < 300 ? resolve(response) : reject(new Refused(response));
      });
    });
  const request = (method, target, data, token) => {
    const words = ["-X", method, url + target];
    for (const [name, value] of Object.entries(HEADERS)) words.push("-H", `${name}: ${value}`);
    if (token) words.push("-H", `Authorization: Bearer ${token}`);
    if (data !== undefined) words.push("-d", JSON.stringify(data));
    return run("curl", words);
  };
  const written = document ? curlCommands(document, url, (line) => run("bash", ["-c", line])) : {};
  return { ...helpers(request), ...written, request, from };
}

function client(kind, url, document, folder) {
  if (kind === "axios") return axiosClient(url, document);
  if (kind === "fetch") return fetchClient(url);
  if (kind === "curl") return curlClient(url, document, folder);
  throw new Error(`there is no client ${kind}`);
}

module.exports = { client };
