import { describe, expect, it } from "vitest";
import type { Json } from "../client/types.ts";
import { Masking } from "./masks.ts";

const object = (uid: string, resourceVersion: string, more: object = {}): Json =>
  ({ metadata: { name: "a", uid, resourceVersion, creationTimestamp: "2026-01-02T03:04:05Z" }, ...more }) as Json;

const uids = ["6a1f0d3e-0000-4000-8000-000000000001", "6a1f0d3e-0000-4000-8000-000000000002"] as const;

/** What a side's answers look like, in order. */
function shown(answers: readonly Json[], ...words: readonly string[]): Json[] {
  const masking = new Masking();
  words.forEach((word) => masking.rename(word, "namespace"));
  return answers.map((answer, index) => masking.masked(answer, index + 1));
}

describe("masking", () => {
  it("makes two servers alike that draw uids, versions and times of their own", () => {
    const one = shown([object(uids[0], "10"), object(uids[0], "12"), object(uids[0], "12")]);
    const other = shown([object(uids[1], "7001"), object(uids[1], "7009"), object(uids[1], "7009")]);
    expect(one).toEqual(other);
  });

  it("keeps what is equal equal and what is new new: a version that does not change shows", () => {
    const changes = shown([object(uids[0], "10"), object(uids[0], "11")]);
    expect(shown([object(uids[0], "10"), object(uids[0], "10")])).not.toEqual(changes);
    expect(shown([object(uids[0], "10"), object(uids[1], "11")])).not.toEqual(changes);
  });

  it("lets one difference not shift the names of what comes after it", () => {
    const [, , one] = shown([object(uids[0], "10"), object(uids[0], "10"), object(uids[0], "12")]);
    const [, , other] = shown([object(uids[0], "10"), object(uids[0], "11"), object(uids[0], "12")]);
    expect(one).toEqual(other);
  });

  it("shows that a version is missing or empty", () => {
    const versionOf = (resourceVersion: Json | undefined): Json[] =>
      shown([{ metadata: { name: "a", ...(resourceVersion === undefined ? {} : { resourceVersion }) } }]);
    expect(versionOf("")).not.toEqual(versionOf("5"));
    expect(versionOf(undefined)).not.toEqual(versionOf("5"));
  });

  it("takes the version of a collection for any, since others may write", () => {
    const list = (resourceVersion: string): Json => ({ kind: "List", metadata: { resourceVersion }, items: [] });
    expect(shown([list("5"), list("5")])).toEqual(shown([list("5"), list("6")]));
  });

  it("finds what is masked within sentences, and a side's own words", () => {
    const told = (namespace: string, uid: string, version: string): Json[] =>
      shown([{ message: `${uid} in ${namespace}: resource version ${version} is too large` }], namespace);
    expect(told("ns-one", uids[0], "100")).toEqual(told("ns-other", uids[1], "2000"));
    expect(shown([{ message: "100 pods" }])).not.toEqual(shown([{ message: "200 pods" }]));
  });

  it("takes addresses, ports and ages for what they are", () => {
    const service = (ip: string, nodePort: number, age: string): Json => ({
      spec: { clusterIP: ip, ports: [{ nodePort }] },
      cells: [age, `80:${nodePort}/TCP`],
    });
    expect(shown([service("10.0.0.5", 30001, "5s")])).toEqual(shown([service("10.96.1.9", 31999, "2m10s")]));
    expect(shown([service("None", 30001, "5s")])).not.toEqual(shown([service("10.0.0.5", 30001, "5s")]));
  });

  it("shows a time of deletion that moves, whatever the clock", () => {
    const deleted = (uid: string, seconds: readonly string[]): Json[] =>
      shown(seconds.map((second) => ({ metadata: { uid, deletionTimestamp: `2026-01-02T03:04:${second}Z` } })));
    const stays = deleted(uids[0], ["10", "10"]);
    expect(deleted(uids[1], ["40", "41"])).toEqual(stays);
    expect(deleted(uids[1], ["40", "50"])).not.toEqual(stays);
    expect(deleted(uids[1], ["40", "30"])).not.toEqual(deleted(uids[1], ["40", "50"]));
    const early = { metadata: { uid: uids[0], creationTimestamp: "2026-01-02T03:04:05Z" } };
    const at = (deletionTimestamp: string): Json[] => shown([{ metadata: { ...early.metadata, deletionTimestamp } }]);
    expect(at("2026-01-02T03:03:05Z")).not.toEqual(at("2026-01-02T03:04:35Z"));
  });

  it("takes owners of one operation in any order, which their times decide, and shows whose operation comes first", () => {
    const owner = (operation: string, manager: string, time: string): Json => ({ manager, operation, time });
    const owned = (...managedFields: Json[]): Json[] => shown([{ metadata: { name: "a", managedFields } }]);
    const [early, late] = ["2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"];
    const one = owned(owner("Apply", "z", early), owner("Update", "x", early), owner("Update", "y", late));
    expect(owned(owner("Apply", "z", late), owner("Update", "y", early), owner("Update", "x", late))).toEqual(one);
    expect(owned(owner("Update", "x", early), owner("Apply", "z", early), owner("Update", "y", late))).not.toEqual(one);
    expect(owned(owner("Apply", "z", early), owner("Update", "x", early))).not.toEqual(one);
  });

  it("shows a version that says that there is none", () => {
    const list = (resourceVersion: string): Json => ({ kind: "List", metadata: { resourceVersion } });
    expect(shown([list("0")])).not.toEqual(shown([list("5")]));
  });
});
