import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import type { JsonObject } from "../../client/types.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import { answerTo, judgeProxied } from "../../model/proxying.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

/**
 * A request through `proxy` reaches the service that its path names, with its body, and comes back with that one's answer;
 * through a service behind which nobody is, or that does not exist, it reaches nobody.
 * Method: one service has the suite itself as its endpoint, at the address where it answers webhooks, which then must be
 * an address of IP version 4. One run says all.
 */
export const proxiedRequestsReachWhatTheyName = defineCheck({
  id: "proxied-requests-reach-what-they-name",
  area: "paths",
  property: "A request through proxy reaches the resource that its path names, and no other.",
  requirements: ["paths.proxy"],
  features: ["service-proxy", "namespaces"],
  cost: "slow",
  async run(attempt) {
    const host = attempt.webhooks;
    if (host === undefined) throw new Unsupported("a way to the suite: nobody gave --webhook-address");
    const namespace = await attempt.target.namespace();
    await createServices(attempt, new URL(host.url));
    const path = `/touchstone-proxied/${namespace}`;
    const arrived: unknown[] = [];
    const stop = host.answer(path, (document) => {
      arrived.push(document);
      return answerTo(document);
    });
    try {
      await awaitEndpoints(attempt, path, arrived);
      for (const [name, isOurs] of [
        ["near", true],
        ["far", false],
        ["absent", false],
      ] as const) {
        arrived.length = 0;
        const sent = { ask: name };
        const { status, json } = await send(attempt, name, path, sent);
        const proxied = { name, isOurs, sent, status, answered: json, arrived };
        attempt.holds("paths.proxy", judgeProxied(proxied));
      }
    } finally {
      stop();
    }
  },
});

/** Two services without selectors: of `near`, the suite is the endpoint; of `far`, nobody. */
async function createServices(attempt: Attempt, { hostname, port }: URL): Promise<void> {
  const services = await attempt.target.collection("services");
  for (const name of ["near", "far"]) {
    const spec = { ports: [{ port: servicePort }] };
    objectOf(await services.create({ apiVersion: "v1", kind: "Service", metadata: { name }, spec }));
  }
  // Nobody is behind it: a 503 says so, and does not get better by waiting.
  const tried = await attempt.client.request("GET", `${services.path}/far/proxy`, { retryTooMany: false });
  if (tried.status === 405) throw new Unsupported(`requests through services/proxy: ${shownAnswer(tried)}`);
  if (!/^[0-9.]+$/.test(hostname))
    throw new Unsupported("endpoints at the suite's address, which is none of IP version 4");
  const endpoints = await attempt.target.collection("endpoints");
  const subsets = [{ addresses: [{ ip: hostname }], ports: [{ port: Number(port || "443") }] }];
  const body = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "near" }, subsets };
  const answer = await endpoints.create(body);
  // Nobody promises that every address will do: that of the machine itself will not, on known servers.
  if (answer.status === 422) throw new Unsupported(`endpoints at ${hostname}: ${shownAnswer(answer)}`);
  objectOf(answer);
}

/** A server may hear of endpoints later, and no time is promised. */
async function awaitEndpoints(attempt: Attempt, path: string, arrived: readonly unknown[]): Promise<void> {
  let last = "";
  const there = await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, async () => {
    const answer = await send(attempt, "near", path, { ask: "who is there" });
    last = shownAnswer(answer);
    return answer.status < 500 || arrived.length > 0 ? true : undefined;
  });
  if (there === undefined)
    throw new Inconclusive(`the service does not reach the suite in ${patienceMillis} ms: ${last}`);
}

async function send(attempt: Attempt, name: string, path: string, body: JsonObject) {
  const { path: services } = await attempt.target.collection("services");
  return attempt.client.request("POST", `${services}/https:${name}:${servicePort}/proxy${path}`, { body });
}

const servicePort = 443;
const patienceMillis = 10_000;
