import fc from "fast-check";
import { expect, it } from "vitest";
import { svcDialect } from "../../wire/dialect.ts";
import { Client } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { isJsonObject } from "../client/types.ts";
import { Sandbox } from "../runner/sandbox.ts";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { deletionPrograms } from "./object-steps.ts";
import { play } from "./play.ts";

/** The masked answer of a server to one list, which it writes as it likes. */
async function listed(contentType: string, text: string) {
  const transport = scriptedTransport(({ method }) =>
    method === "POST"
      ? { status: 201, json: { kind: "Namespace", metadata: { name: "n" } } }
      : (sink) => {
          sink.head(200, { "content-type": contentType });
          sink.chunk(new TextEncoder().encode(text));
          sink.end();
        },
  );
  const clock = jumpingClock();
  const client = new Client(transport, clock, new Recorder(clock), "test");
  const sandbox = new Sandbox(client, { runId: "r", next: () => "n" });
  const path = "/api/v1/namespaces/{ns}/configmaps";
  const [, answered] = await play(client, sandbox, svcDialect, [
    { what: "create", method: "POST", path, body: { metadata: { name: "a" } } },
    { what: "list", method: "GET", path },
  ]);
  return answered?.answer?.body;
}

const yaml = (token: string, value = "v") =>
  `items:\n- metadata:\n    name: a\n  data:\n    k: ${value}\n- metadata:\n    name: of-others\nmetadata:\n  continue: ${token}\n`;

it("takes YAML for the document that it is: identities are masked, what others made is left out, and the rest counts", async () => {
  const one = await listed("application/yaml", yaml("abc"));
  expect(one).toEqual({
    items: [{ metadata: { name: "a" }, data: { k: "v" } }],
    metadata: { continue: "<token>" },
  });
  expect(await listed("application/yaml", yaml("def"))).toEqual(one);
  expect(await listed("application/yaml", yaml("def", "other"))).not.toEqual(one);
});

it("shows what is called YAML and is none", async () => {
  expect(await listed("application/yaml", "items: [")).toBe("items: [");
  expect(await listed("application/yaml", "")).toBeNull();
});

it("asks again until the answer has a text, or has another no more", async () => {
  const answers = ["orphan", "orphan, held", "held"];
  let asked = 0;
  const transport = scriptedTransport(({ method }) =>
    method === "POST"
      ? { status: 201, json: { kind: "Namespace", metadata: { name: "n" } } }
      : { status: 200, json: { finalizers: answers[asked++] } },
  );
  const clock = jumpingClock();
  const client = new Client(transport, clock, new Recorder(clock), "test");
  const step = { what: "await", method: "GET", path: "/api/v1/namespaces/{ns}/configmaps/a" };
  const playOne = async (more: object): Promise<number> => {
    asked = 0;
    const sandbox = new Sandbox(client, { runId: "r", next: () => "n" });
    await play(client, sandbox, svcDialect, [{ ...step, ...more }]);
    return asked;
  };
  expect([
    await playOne({}),
    await playOne({ until: "held" }),
    await playOne({ untilWithout: "orphan" }),
    await playOne({ until: "held", untilWithout: "orphan" }),
  ]).toEqual([1, 2, 3, 3]);
});

it("gives the actors of deletions their time", () => {
  const programs = fc.sample(deletionPrograms, { seed: 1, numRuns: 200 });
  const policies = programs.flatMap((program) =>
    program.flatMap(({ body, path }, at) => {
      const policy = isJsonObject(body) ? body["propagationPolicy"] : undefined;
      return policy === "Orphan" || policy === "Foreground" ? [{ path, next: program[at + 1] }] : [];
    }),
  );
  expect(policies.length).toBeGreaterThan(50);
  for (const { path, next } of policies) {
    expect(next).toMatchObject({ method: "GET", path, untilWithout: expect.stringMatching(/orphan|foreground/) });
  }
});
