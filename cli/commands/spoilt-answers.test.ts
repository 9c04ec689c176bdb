/**
 * A server whose answers make no sense in the encoding that they say they are in: each check that reads one finds that, and
 * none ends as an error of the suite's own.
 */
import { expect, it } from "vitest";
import { planSuite, runPart } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withFrontEnds } from "../../sim/http/embedded-front-ends.fixture.ts";
import type { StreamSink, Transport, WireResponse } from "../../wire/ports.ts";

const encoder = new TextEncoder();
const prefix = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** What comes in place of a body of such a type. */
const nonsense: readonly (readonly [type: RegExp, body: Uint8Array])[] = [
  [/yaml/, encoder.encode("a: [b\n: : -")],
  [/protobuf/, Uint8Array.of(...prefix, 0x12, 0x7f, 0x01)],
  [/cbor/, Uint8Array.of(0xd9, 0xd9, 0xf7, 0xbf, 0x01)],
];

const bodyOf = (headers: WireResponse["headers"]): Uint8Array | undefined =>
  headers["content-encoding"] === undefined
    ? nonsense.find(([type]) => type.test(String(headers["content-type"] ?? "")))?.[1]
    : encoder.encode("no gzip");

function spoiling(transport: Transport): Transport {
  return {
    close: () => transport.close(),
    open(request, sink) {
      let body: Uint8Array | undefined;
      const spoilt: StreamSink = {
        ...sink,
        head(status, headers) {
          sink.head(status, headers);
          body = status < 300 ? bodyOf(headers) : undefined;
          if (body !== undefined) sink.chunk(body);
        },
        chunk: (bytes) => void (body === undefined && sink.chunk(bytes)),
        end: () => sink.end(),
        failed: (cause) => sink.failed(cause),
      };
      return transport.open(request, spoilt);
    },
  };
}

const readers = [
  "media-types-are-negotiated",
  "accept-chooses-the-answer",
  "protobuf-is-whole",
  "pages-are-the-same-in-every-encoding",
  "objects-read-the-same-in-every-encoding",
  "packed-answers-say-the-same",
  "cbor-is-whole",
];

it.each(readers)("%s finds answers that make no sense", async (check) => {
  const selection = { profile: "kubernetes", seed: 1, runs: 3, targetKind: "embedded", only: [check] } as const;
  const planned = planSuite(selection);
  const gates = { CBORServingAndStorage: true };
  const server = {
    seed: check,
    profile: profiles.kubernetes,
    featureGates: gates,
    latencyMicros: { min: 50, max: 50 },
    others: [],
  };
  const { outcomes } = await withFrontEnds(server, ({ transport, clock }) =>
    runPart({ ...selection, transport: spoiling(transport), clock }, planned, planned.plan.checks),
  );
  expect(outcomes.map(({ verdict }) => verdict)).toMatchObject([{ status: "failed" }]);
});
