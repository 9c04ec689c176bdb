import { expect, test } from "vitest";
import { authentication, authenticator } from "./files.fixture.ts";
import { readConfiguration } from "./read.ts";
import { kubernetesRules } from "./rules.ts";
import { bareSetting } from "./setting.ts";

const own = "https://own.test";
const named = (url: string): object => authenticator({ issuer: { url, audiences: ["a"] } });

/** The whole of what must be true of a file with two authenticators of one issuer, or with the server's own. */
function refusals(isBroken: boolean): readonly string[] {
  const setting = { ...bareSetting(kubernetesRules, [own]), ...(isBroken ? { issuersMayClash: true as const } : {}) };
  return [[named("https://a.test"), named("https://a.test")], [named(own)]].flatMap((jwt) => {
    const read = readConfiguration("AuthenticationConfiguration", JSON.stringify(authentication({ jwt })), setting);
    return read.ok ? [] : read.problems.map(({ field }) => field);
  });
}

test("a planted bug lets issuers clash, and what is told of such files shows it", () => {
  expect(refusals(false)).toEqual(["jwt[1].issuer.url", "jwt[0].issuer.url"]);
  expect(refusals(true)).toEqual([]);
});
