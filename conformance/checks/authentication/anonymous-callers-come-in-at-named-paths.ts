import { shownAnswer } from "../../client/status-document.ts";
import { openPaths } from "../../model/access-files.ts";
import { defineCheck } from "../../runner/define-check.ts";

const closedPaths = ["/version", "/api/v1/namespaces", `${openPaths[0]}/ping`, "/", "/apis"];

/** With conditions, callers without credentials come in at the paths that the file names, and nowhere else. One run says all. */
export const anonymousCallersComeInAtNamedPaths = defineCheck({
  id: "anonymous-callers-come-in-at-named-paths",
  area: "authentication",
  property: "Callers without credentials come in where the file says, and nowhere else.",
  requirements: ["authentication-config.anonymous-paths", "authentication-config.anonymous"],
  features: ["token-issuer"],
  async run(attempt) {
    for (const path of openPaths) {
      const answer = await attempt.client.request("GET", path, { as: "nobody", accept: null });
      const expected = `an answer other than 401 at ${path}, which the file names`;
      attempt.expect("authentication-config.anonymous", answer.status !== 401, expected, shownAnswer(answer));
    }
    for (const path of closedPaths) {
      const answer = await attempt.client.request("GET", path, { as: "nobody" });
      const expected = `401 at ${path}, which the file does not name`;
      attempt.expect("authentication-config.anonymous-paths", answer.status === 401, expected, shownAnswer(answer));
    }
  },
});
