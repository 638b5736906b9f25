"use strict";
// What the guide's document itself says to call, taken from its text.

const fs = require("node:fs");
const vm = require("node:vm");

function blocks(document, language) {
  const text = fs.readFileSync(document, "utf8");
  return [...text.matchAll(new RegExp("```" + language + "\\n([^]*?)```", "g"))].map((match) => match[1]);
}

/** The end of what begins with the parenthesis at `start`. */
function closing(text, start) {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    if ("({[".includes(text[index])) depth++;
    if (")}]".includes(text[index]) && --depth === 0) return index;
  }
  throw new Error("a parenthesis is not closed");
}

/** `a: string, b: { c: string }` without what stands behind the colons. */
function names(parameters) {
  let depth = 0;
  const found = [""];
  for (const character of parameters) {
    if ("({[".includes(character)) depth++;
    if (character === "," && depth === 0) found.push("");
    else found[found.length - 1] += character;
    if (")}]".includes(character)) depth--;
  }
  return found.map((parameter) => parameter.split(":")[0].trim()).filter((name) => name !== "");
}

/** Functions in TypeScript whose only types are those of parameters and `as` some name. */
function withoutTypes(text) {
  let result = "";
  let rest = text;
  for (;;) {
    const found = /function \w+\(/.exec(rest);
    if (!found) return (result + rest).replace(/ as \w+;/g, ";");
    const open = found.index + found[0].length - 1;
    const close = closing(rest, open);
    result += rest.slice(0, open + 1) + names(rest.slice(open + 1, close)).join(", ");
    rest = rest.slice(close);
  }
}

const HELPERS = [
  "sendCode", "confirmEmailCode", "startOnboardingSession", "forgotPassword", "verifyResetCode", "resetPassword",
];

/** The helper functions of the document, which call `axios`. */
function axiosHelpers(document, axios, url) {
  const text = blocks(document, "typescript").map(withoutTypes).join("\n");
  return vm.runInNewContext(`${text}\n({ ${HELPERS.join(", ")} })`, { axios, API_URL: url });
}

/** The command lines of the document. `run` executes one and gives status, data and headers. */
function curlCommands(document, url, run) {
  const lines = blocks(document, "bash").join("\n").split(/^(?=curl )/m).filter((part) => part.startsWith("curl "));
  // A reader puts in what is his own.
  const call = (target, values) => {
    const line = lines.find((line) => line.includes(target));
    if (!line) throw new Error(`the document calls no ${target}`);
    let own = line.replaceAll("http://localhost:3001", url);
    for (const [placeholder, value] of Object.entries(values)) {
      if (!own.includes(placeholder)) throw new Error(`the call of ${target} has no ${placeholder}`);
      own = own.replaceAll(placeholder, value);
    }
    return run(own);
  };
  return {
    forgotPassword: async (email) => {
      await call("/forgot-password", { "user@example.com": email });
    },
    verifyResetCode: async (email, code) =>
      (await call("/verify-reset-code", { "user@example.com": email, 123456: code })).data.data.resetToken,
    resetPassword: async (token, password) => {
      await call("/reset-password", { "<from step 2>": token, NewSecurePass1: password });
    },
  };
}

module.exports = { axiosHelpers, curlCommands };
