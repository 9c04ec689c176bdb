import { describe, expect, it } from "vitest";
import type { ApiObject } from "../client/types.ts";
import type { Answer } from "../client/exchange.ts";
import { atLatestVersion } from "./at-latest-version.ts";

const objectAt = (resourceVersion: string): ApiObject =>
  ({ apiVersion: "v1", kind: "Pod", metadata: { name: "a", resourceVersion } }) as ApiObject;
const said = (status: number, json?: ApiObject): Answer => ({ status, json }) as unknown as Answer;

/** What is there at each reading, and which version is taken. */
async function tried(versions: readonly (string | undefined)[], taken: string) {
  let reads = 0;
  const get = async () => {
    const version = versions[Math.min(reads++, versions.length - 1)];
    return version === undefined ? said(404) : said(200, objectAt(version));
  };
  const sent: string[] = [];
  const { answer, object } = await atLatestVersion({ get }, objectAt("1"), async ({ metadata }) => {
    sent.push(metadata.resourceVersion as string);
    return said(metadata.resourceVersion === taken ? 200 : 409);
  });
  return { status: answer.status, for: object.metadata.resourceVersion, sent };
}

describe("a request that names a version", () => {
  it("is sent once when it is taken", async () => {
    expect(await tried(["1"], "1")).toEqual({ status: 200, for: "1", sent: ["1"] });
  });

  it("is sent again when somebody else has written meanwhile", async () => {
    expect(await tried(["2", "3"], "3")).toEqual({ status: 200, for: "3", sent: ["1", "2", "3"] });
  });

  it("is in conflict for good when the object is what it was", async () => {
    expect(await tried(["1"], "9")).toEqual({ status: 409, for: "1", sent: ["1"] });
  });

  it("is in conflict for good when the object is gone, or after three tries", async () => {
    expect(await tried([undefined], "9")).toEqual({ status: 409, for: "1", sent: ["1"] });
    expect((await tried(["2", "3", "4", "5", "6"], "9")).sent).toEqual(["1", "2", "3", "4"]);
  });
});
