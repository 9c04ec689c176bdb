/** What order decides, and what it never does: authorizers in their list, authenticators of tokens in theirs. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kubernetesDialect } from "../../../wire/dialect.ts";
import { authentication, authenticator } from "../../configuration/files.fixture.ts";
import type { AuthorizerSettings, AuthorizerWebhookSettings } from "../../configuration/authorization.ts";
import { readConfiguration } from "../../configuration/read.ts";
import { kubernetesRules } from "../../configuration/rules.ts";
import { bareSetting } from "../../configuration/setting.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { AuthorizerWebhook } from "../../outside/authorizer-webhook.ts";
import { issuerCalls, TokenIssuer } from "../../outside/token-issuer.ts";
import type { ServerBugName } from "../../planted/server-bugs.ts";
import { reviewCallerWith } from "../../planted/wrappers/access-wrappers.ts";
import { plantedOf } from "../../planted/wrappers/planted.ts";
import { type TokenOutcome, tokenLookup, type TokenTable } from "./authenticate.ts";
import type { Decision } from "./authorize.ts";
import { authorizationBy } from "./modes.ts";
import type { RbacPolicy } from "./rbac/policy.ts";
import { readPortableKey } from "./tokens/portable-keys.ts";
import { TokenAuthenticators } from "./tokens/token-authenticators.ts";
import { WebhookAuthorizer } from "./webhooks/webhook-authorizer.ts";

const second = 1_000_000;

/** An authorizer, by what it comes to for this one question. */
const members = {
  allows: "allow",
  denies: "deny",
  abstains: "none",
  "fails, and refuses": "deny",
  "fails, and passes": "none",
  "is silent, and refuses": "deny",
  "is excluded": "none",
  AlwaysAllow: "allow",
  AlwaysDeny: "none",
  RBAC: "none",
} as const;
type Member = keyof typeof members;
const memberNames = Object.keys(members) as Member[];

/** What a list comes to when everybody is asked for real, each webhook after its own delay. */
function decided(list: readonly Member[], delays: readonly number[], bugs: readonly ServerBugName[] = []): Decision {
  const kernel = new Kernel({ seed: "1" });
  const process = kernel.process("apiserver-1");
  const counts = { called() {}, excluded() {}, conditionFailed() {}, failedOpen() {} };
  const rows = list.map((member, index): AuthorizerSettings => {
    if (member === "AlwaysAllow" || member === "AlwaysDeny" || member === "RBAC")
      return { type: member, name: String(index), webhook: undefined };
    return { type: "Webhook", name: String(index), webhook: webhookSettings(member) };
  });
  const prepare: RbacPolicy["prepare"] = (_clock, _asked, ready) => {
    ready();
    return () => {};
  };
  const policy = { prepare, decide: () => ({ allowed: false, denied: false, reason: "" }) } as unknown as RbacPolicy;
  const authorization = authorizationBy(rows, {
    clock: process.clock,
    policy,
    decided: () => {},
    webhook: (name, settings) => {
      const member = list[Number(name)] as Member;
      const says = member === "allows" ? "allow" : member === "denies" ? "deny" : "none";
      // Whoever is excluded would allow, were it asked.
      const webhook = new AuthorizerWebhook(process, () => (member === "is excluded" ? "allow" : says));
      const mood = member.startsWith("fails") ? "broken" : member.startsWith("is silent") ? "down" : "well";
      webhook.behaviour = { delayMicros: delays[Number(name)] ?? 0, mood };
      const authorizer = new WebhookAuthorizer(settings, {
        clock: process.clock,
        dialect: kubernetesDialect,
        call: reviewCallerWith(plantedOf(bugs), webhook.call),
        counts,
      });
      return (user, asked, done) => authorizer.decide(user, asked, done);
    },
  });
  let decision: Decision | undefined;
  const user = { name: "jane", uid: "", groups: ["system:authenticated"] };
  kernel.enter(process, () =>
    authorization.decide(user, { is: "path", verb: "get", path: "/x" }, (found) => (decision = found)),
  );
  kernel.run(100 * second);
  if (decision === undefined) throw new Error("no decision");
  return decision;
}

const excluding = {
  source: "false",
  evaluate: () => ({ value: false, cost: 1 }),
} as unknown as AuthorizerWebhookSettings["conditions"][number];

const webhookSettings = (member: Member): AuthorizerWebhookSettings => ({
  authorizedMicros: second,
  unauthorizedMicros: second,
  timeoutMicros: second,
  reviewVersion: "v1",
  failurePolicy: member.endsWith("refuses") ? "Deny" : "NoOpinion",
  connectionFile: undefined,
  conditions: member === "is excluded" ? [excluding] : [],
});

const anyList = fc.uniqueArray(fc.tuple(fc.constantFrom(...memberNames), fc.nat(3)), {
  minLength: 1,
  maxLength: 6,
  selector: ([member, copy]) => (member.startsWith("Always") || member === "RBAC" ? member : `${member} ${copy}`),
});
const anyDelays = fc.array(fc.nat(900_000), { minLength: 6, maxLength: 6 });

describe("authorizers", () => {
  test("the first with an opinion decides, whoever comes after and however long each takes", () => {
    fc.assert(
      fc.property(anyList, anyDelays, (drawn, delays) => {
        const list = drawn.map(([member]) => member);
        const opinion = list.map((member) => members[member]).find((each) => each !== "none") ?? "none";
        const { allowed, ...rest } = decided(list, delays);
        expect(allowed).toBe(opinion === "allow");
        expect("denied" in rest && rest.denied).toBe(opinion === "deny");
      }),
      { numRuns: 200, seed: 17 },
    );
  });

  test("a planted bug lets a later one overrule a denial, and the law sees it", () => {
    expect(decided(["denies", "allows"], [0, 0])).toMatchObject({ allowed: false, denied: true });
    expect(decided(["denies", "allows"], [0, 0], ["authorizer-denial-passed-on"])).toMatchObject({ allowed: true });
  });

  test("whom nobody allows is not allowed, in no order; and nobody gets past one who denies before", () => {
    const shuffled = anyList.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, anyDelays, ([, order], delays) => {
        const list = order.map(([member]) => member);
        const { allowed } = decided(list, delays);
        const allowers = list.flatMap((member, at) => (members[member] === "allow" ? [at] : []));
        const denier = list.findIndex((member) => members[member] === "deny");
        if (allowers.length === 0) expect(allowed).toBe(false);
        if (allowed) expect(denier === -1 || (allowers[0] as number) < denier).toBe(true);
      }),
      { numRuns: 200, seed: 18 },
    );
  });
});

describe("authenticators", () => {
  const urls = ["https://a.test", "https://b.test", "https://b.test/deeper", "https://c.test"] as const;
  const epochSeconds = 1_800_000_000;
  const anyToken = fc.record({
    iss: fc.constantFrom(...urls, "https://nobody.test", ""),
    signedBy: fc.nat(urls.length - 1),
    aud: fc.constantFrom("a", "others"),
    left: fc.constantFrom(-1, 100),
    kid: fc.constantFrom("key-1", "key-9"),
  });

  test("the one whose issuer a token names decides alone, wherever it stands in the list", () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...urls], { minLength: 1 }),
        fc.array(anyToken, { maxLength: 6 }),
        (order, drawn) => {
          const kernel = new Kernel({ seed: "1", epochUnixMillis: epochSeconds * 1_000 });
          const process = kernel.process("apiserver-1");
          const issuers = urls.map((url) => new TokenIssuer(url, process.prng.stream(url)));
          const jwt = order.map((url) =>
            authenticator({
              issuer: { url, audiences: ["a"] },
              claimMappings: { username: { claim: "sub", prefix: `${url} ` } },
            }),
          );
          const file = JSON.stringify(authentication({ jwt }));
          const read = readConfiguration("AuthenticationConfiguration", file, bareSetting(kubernetesRules));
          if (!read.ok) throw new Error(JSON.stringify(read.problems));
          const tokens = kernel.enter(
            process,
            () =>
              new TokenAuthenticators(read.value.authenticators, {
                clock: process.clock,
                rules: kubernetesRules,
                call: issuerCalls(process, issuers),
                readKey: readPortableKey,
                log: () => {},
              }),
          );
          kernel.run(second);
          for (const { iss, signedBy, aud, left, kid } of drawn) {
            const text = (issuers[signedBy] as TokenIssuer).token(
              { iss, sub: "jane", aud, exp: epochSeconds + 1 + left },
              { kid },
            );
            let outcome: TokenOutcome | undefined;
            kernel.enter(process, () => tokens.read(text, (found) => (outcome = found)));
            kernel.run(kernel.nowMicros() + 100_000);
            const isKnown = (order as readonly string[]).includes(iss);
            const isGood = isKnown && urls[signedBy] === iss && aud === "a" && left > 0 && kid === "key-1";
            expect(outcome?.is).toBe(isGood ? "user" : isKnown ? "refused" : "foreign");
            if (isGood) expect(outcome).toMatchObject({ user: { name: `${iss} jane` } });
          }
        },
      ),
      { numRuns: 30, seed: 19 },
    );
  });

  test("the first table that knows a token decides, and nobody is asked about it; else the reader", () => {
    const user = (name: string) => ({ name, uid: "", groups: [] });
    const anyTable = fc.uniqueArray(fc.constantFrom("s", "t", "u"), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(anyTable, { maxLength: 4 }), fc.constantFrom("s", "t", "u"), (tables, token) => {
        let askedCount = 0;
        const rows = tables.map(
          (known, at): TokenTable =>
            (text) =>
              (known as readonly string[]).includes(text) ? { user: user(`table ${at}`), audiences: [] } : undefined,
        );
        const reader = {
          read(_text: string, done: (outcome: TokenOutcome) => void) {
            askedCount++;
            done({ is: "user", user: user("reader") });
            return () => {};
          },
        };
        let name = "";
        tokenLookup(rows, reader, ["a"])(
          token,
          [],
          (proven) => (name = "user" in proven ? proven.user.name : "nobody"),
        );
        const first = tables.findIndex((known) => known.includes(token));
        expect(name).toBe(first < 0 ? "reader" : `table ${first}`);
        expect(askedCount).toBe(first < 0 ? 1 : 0);
      }),
      { seed: 20 },
    );
  });

  test("what was accepted once is accepted no longer than it lasts, nor by keys that have gone", () => {
    const anyStep = fc.oneof(
      fc.record({ is: fc.constant("read" as const), token: fc.nat(4) }),
      fc.record({ is: fc.constant("pass" as const), micros: fc.nat(40 * second) }),
      fc.record({
        is: fc.constant("make" as const),
        nbf: fc.integer({ min: -5, max: 20 }),
        lasts: fc.integer({ min: 1, max: 60 }),
      }),
      fc.record({ is: fc.constant("rotate" as const) }),
    );
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30 }), (steps) => {
        const kernel = new Kernel({ seed: "1", epochUnixMillis: epochSeconds * 1_000 });
        const process = kernel.process("apiserver-1");
        const issuer = new TokenIssuer("https://a.test", process.prng);
        const jwt = [authenticator({ issuer: { url: issuer.url, audiences: ["a"] } })];
        const read = readConfiguration(
          "AuthenticationConfiguration",
          JSON.stringify(authentication({ jwt })),
          bareSetting(kubernetesRules),
        );
        if (!read.ok) throw new Error(JSON.stringify(read.problems));
        const tokens = kernel.enter(
          process,
          () =>
            new TokenAuthenticators(read.value.authenticators, {
              clock: process.clock,
              rules: kubernetesRules,
              call: issuerCalls(process, [issuer]),
              readKey: readPortableKey,
              log: () => {},
            }),
        );
        kernel.run(100_000);
        const now = (): number => epochSeconds + kernel.nowMicros() / second;
        const made: { text: string; nbf: number; exp: number; key: number }[] = [];
        let key = 1;
        let keySeen = 1;
        let serial = 0;
        const isTaken = (text: string): boolean => {
          let outcome: TokenOutcome | undefined;
          kernel.enter(process, () => tokens.read(text, (found) => (outcome = found)));
          kernel.run(kernel.nowMicros() + 100_000);
          return outcome?.is === "user";
        };
        for (const step of steps) {
          if (step.is === "pass") kernel.run(kernel.nowMicros() + step.micros);
          else if (step.is === "rotate") {
            issuer.rotate();
            key++;
          } else if (step.is === "make") {
            const times = { nbf: Math.floor(now()) + step.nbf, exp: Math.floor(now()) + step.nbf + step.lasts };
            const text = issuer.token({ sub: "jane", aud: "a", jti: String(serial++), ...times });
            made.push({ text, ...times, key });
          } else {
            const token = made[step.token];
            if (token === undefined) continue;
            const before = now();
            if (!isTaken(token.text)) continue;
            expect(now()).toBeGreaterThanOrEqual(token.nbf);
            expect(before).toBeLessThan(token.exp);
            expect(token.key).toBeGreaterThanOrEqual(keySeen);
            keySeen = token.key;
          }
        }
      }),
      { numRuns: 50, seed: 21 },
    );
  });
});
