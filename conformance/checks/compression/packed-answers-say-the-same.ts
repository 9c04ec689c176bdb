import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { headerOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { unpackedText } from "../../client/read-bodies.ts";
import type { Violation } from "../../client/findings.ts";
import { Unsupported } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** More than a server that packs only what is worth it sends plain. */
const largeBytes = 140_000;
const smallBytes = 10;

const codings = [
  ["application/json", "gzip"],
  ["application/yaml", "deflate, gzip"],
] as const;

/**
 * Property: an answer is packed when the request allows it, and unpacked it is the plain one; watches come plain.
 * Method: lists and objects, large and small, in JSON and YAML, with and without `Accept-Encoding`. One run says all.
 */
export const packedAnswersSayTheSame = defineCheck({
  id: "packed-answers-say-the-same",
  area: "compression",
  property: "gzip packs gets and lists that ask for it, changes nothing of what they say, and leaves watches alone.",
  requirements: ["compression.gzip", "compression.same-content", "compression.not-asked", "compression.watch"],
  features: ["configmaps", "watch"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const { client } = collection;
    const unit = "x é <&> 0123456789abcdef ";
    const filler = (bytes: number) => unit.repeat(Math.ceil(bytes / unit.length));
    objectOf(await collection.create(configMap("large", { data: { filler: filler(largeBytes) } })));
    objectOf(await collection.create(configMap("small", { data: { filler: filler(smallBytes) } })));
    // Who packs one kind of answer packs the others.
    if (!(await packsAny())) throw new Unsupported("compression"); // behind a gate
    for (const asked of ["object", "list"]) {
      for (const [accept, coding] of codings) await judge(asked, accept, coding);
    }
    const watch = await client.request("GET", collection.path, {
      headers: { "accept-encoding": "gzip" },
      query: { watch: true, timeoutSeconds: 1, fieldSelector: "metadata.name=large" },
    });
    const isWhole = watch.text.includes('"ADDED"') && watch.text.includes("filler");
    attempt.expect(
      "compression.watch",
      !isPacked(watch) && isWhole,
      "a plain watch",
      `${encodingOf(watch)}, ${watch.bytes.length} bytes`,
    );

    async function packsAny(): Promise<boolean> {
      for (const path of [collection.pathOf("large"), collection.path]) {
        for (const [accept, coding] of codings) {
          const answer = await client.request("GET", path, { accept, headers: { "accept-encoding": coding } });
          if (isPacked(answer)) return true;
        }
      }
      return false;
    }

    async function judge(asked: string, accept: string, coding: string): Promise<void> {
      const asking = (path: string, headers: Record<string, string>) => {
        // Only the small or the large one: a list is asked for by name too.
        const [, name] = path.split("=");
        return asked === "object"
          ? client.request("GET", collection.pathOf(name as string), { accept, headers })
          : client.request("GET", collection.path, { accept, headers, query: { fieldSelector: path } });
      };
      const packs = { "accept-encoding": coding };
      const [large, small] = [await asking("metadata.name=large", packs), await asking("metadata.name=small", packs)];
      attempt.expect("compression.gzip", isPacked(large), "content-encoding: gzip", encodingOf(large));
      const smallPromise = isPacked(small)
        ? undefined
        : { expected: "content-encoding: gzip", actual: encodingOf(small) };
      attempt.holdsOrDeviates("small-answers-are-plain", "compression.gzip", smallPromise, !isPacked(small));

      const plain = await asking("metadata.name=large", {});
      attempt.expect("compression.not-asked", !isPacked(plain), "no content-encoding", encodingOf(plain));
      const identity = await asking("metadata.name=large", { "accept-encoding": "identity" });
      attempt.expect("compression.not-asked", !isPacked(identity), "no content-encoding", encodingOf(identity));
      // By URL others write in between, and the version of the list moves on.
      const hidden = asked === "list" ? /resourceVersion"?: ?"\d+"/g : /$^/;
      attempt.holds(
        "compression.same-content",
        judgeSame(unpacked(large).replace(hidden, ""), plain.text.replace(hidden, "")),
      );
    }
  },
});

function isPacked(answer: Answer): boolean {
  return headerOf(answer.headers, "content-encoding") !== undefined;
}

function encodingOf(answer: Answer): string {
  return `${answer.status}, content-encoding: ${headerOf(answer.headers, "content-encoding") ?? "none"}`;
}

function unpacked(answer: Answer): string {
  try {
    return unpackedText(answer.bytes);
  } catch (error) {
    return String(error);
  }
}

function judgeSame(unpackedText: string, plainText: string): Violation | undefined {
  if (unpackedText === plainText) return undefined;
  const at = [...plainText].findIndex((letter, index) => unpackedText[index] !== letter);
  const around = (text: string) => `${text.length} characters, at ${at}: ${text.slice(Math.max(0, at - 20), at + 60)}`;
  return { expected: around(plainText), actual: around(unpackedText) };
}
