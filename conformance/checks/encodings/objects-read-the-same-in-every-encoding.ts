import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf, succeeded } from "../../client/collection.ts";
import type { Json } from "../../client/types.ts";
import { openEnvelope } from "../../model/protobuf.ts";
import {
  type Encoding,
  encodingsOf,
  mediaTypeIn,
  partsOf,
  readIn,
  showsSame,
  written,
} from "../../runner/encodings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Texts that some encoding takes for something else unless it is told otherwise. */
const trickyTexts = [
  "",
  " ",
  "yes",
  "no",
  "on",
  "null",
  "~",
  "true",
  "0777",
  "0o17",
  "1e3",
  ".5",
  "1_000",
  "0x1F",
  "2001-01-01",
  "12:30:45",
  ": ",
  "a: b",
  "# no comment",
  "- item",
  "{a: b}",
  "[1]",
  "*a",
  "&a",
  "!tag",
  "%",
  "@",
  "`",
  "'",
  '"',
  "\\",
  "a\nb",
  "\n",
  "a\n",
  " a",
  "a ",
  "\t",
  "é",
  "😀",
  "<&>",
  "---",
  "...",
  "=",
  "<<",
  "|",
  ">",
  "?",
  "?a",
];
const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...trickyTexts) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => text.isWellFormed()) },
);
const anyKey = fc.constantFrom("a", "0777", "no", "null", "1e3", "a.b", "-", "_");
const requirementOf: Readonly<Record<Encoding, readonly [read: string, write: string]>> = {
  json: ["negotiation.independent", "negotiation.send-by-type"],
  yaml: ["encodings.yaml", "encodings.yaml"],
  protobuf: ["encodings.protobuf", "encodings.protobuf-write"],
  cbor: ["encodings.cbor", "encodings.cbor"],
};

/**
 * Property: an object that is sent in one encoding and answered in another is the same object in all of them.
 * Method: texts that encodings like to mistake; created in any encoding, answered in any other, read in all that the
 * target has, and replaced. What is compared is what the JSON says.
 */
export const objectsReadTheSameInEveryEncoding = defineCheck({
  id: "objects-read-the-same-in-every-encoding",
  area: "encodings",
  property: "What is written in one encoding reads the same in every other.",
  requirements: ["negotiation.independent", "negotiation.send-by-type", "encodings.yaml", "negotiation.charset"],
  features: ["configmaps"],
  input: fc.record({
    sentIn: fc.nat(7),
    answeredIn: fc.nat(7),
    data: fc.dictionary(anyKey, anyText, { maxKeys: 4 }),
    labels: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom<string>("", "null", "0x1", "yes"), { maxKeys: 2 }),
  }),
  examples: Array.from({ length: 4 }, (_, index) => ({
    sentIn: index,
    answeredIn: index + 1,
    data: { a: "yes", "0777": "0777", no: "a\n" } as Record<string, string>,
    labels: { a: "null" },
  })),
  async run(attempt, { sentIn, answeredIn, data, labels }) {
    const encodings = encodingsOf(attempt);
    const sent = encodings[sentIn % encodings.length] as Encoding;
    const answered = encodings[answeredIn % encodings.length] as Encoding;
    const collection = await attempt.target.collection("configmaps");
    const { client } = collection;
    const contentType = mediaTypeIn(attempt, sent) + (sent === "json" || sent === "yaml" ? "; charset=utf-8" : "");
    const accept = mediaTypeIn(attempt, answered);
    const object = configMap("a", { data, labels });
    const created = await client.request("POST", collection.path, {
      rawBody: written(sent, object),
      contentType,
      accept,
    });
    const [, write] = requirementOf[sent];
    const taken = created.status < 300;
    attempt.expect(
      write,
      taken,
      `a ConfigMap made of ${contentType}`,
      `${created.status} ${created.text.slice(0, 300)}`,
    );
    if (contentType.includes("charset")) attempt.holds("negotiation.charset", undefined);
    const type = mediaTypeOf(created.headers);
    attempt.expect("negotiation.independent", type === accept, `${accept} for a body in ${contentType}`, type);
    const stored = objectOf(await collection.get("a"));
    const wanted = { ...partsOf(stored), data, metadata: { ...stored.metadata, labels } };
    attempt.expect(
      write,
      showsSame([stored], wanted),
      JSON.stringify({ data, labels }),
      JSON.stringify(partsOf(stored)),
    );
    const reads = (encoding: Encoding, documents: () => Json[], text: string) => {
      const [read] = requirementOf[encoding];
      const shown = attemptTo(documents);
      const same = !(shown instanceof Error) && showsSame(shown, stored);
      const actual =
        shown instanceof Error ? `${shown.message}: ${text.slice(0, 200)}` : JSON.stringify(shown.map(partsOf));
      attempt.expect(read, same, `in ${encoding}: ${JSON.stringify(partsOf(stored))}`, actual);
    };
    reads(answered, () => readIn(answered, created), created.text);
    for (const encoding of encodings.slice(1)) {
      const mediaType = mediaTypeIn(attempt, encoding);
      const answer = succeeded(
        await client.request("GET", collection.pathOf("a"), { accept: mediaType }),
        requirementOf[encoding][0],
      );
      reads(encoding, () => readIn(encoding, answer), answer.text);
      if (encoding !== "protobuf") continue;
      const { contentEncoding, contentType: inner } = openEnvelope(answer.bytes);
      attempt.expect("encodings.envelope", contentEncoding === "", "no contentEncoding", contentEncoding);
      // Unspecified it means what it says here, and what is in it was read as protobuf.
      attempt.expect(
        "encodings.envelope",
        inner === "" || inner === mediaType,
        `no contentType, or ${mediaType}`,
        inner,
      );
    }
    const next = configMap("a", { data: { ...data, a: "replaced" }, labels });
    const put = await client.request("PUT", collection.pathOf("a"), {
      rawBody: written(sent, next),
      contentType,
      accept,
    });
    const after = objectOf(await collection.get("a"));
    const replaced = put.status === 200 && showsSame([after], { ...after, data: { ...data, a: "replaced" } });
    attempt.expect(write, replaced, "200, and replaced", `${put.status} ${JSON.stringify(after["data"])}`);
  },
});

function attemptTo<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (error) {
    return error as Error;
  }
}
