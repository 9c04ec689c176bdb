import { describe, expect, it } from "vitest";
import { ApiError } from "../../contract/errors.ts";
import { parseQuery } from "../requests/url.ts";
import { kubernetesProfile, type Profile, svcProfile } from "../../contract/profile.ts";
import { parseListOptions } from "./options.ts";

const gated: Profile = { ...kubernetesProfile, featureGates: { ...kubernetesProfile.featureGates, WatchList: true } };
const parse = (query: string, profile: Profile = kubernetesProfile) => parseListOptions(parseQuery(query), profile);

function refusal(query: string, profile?: Profile): ApiError {
  try {
    parse(query, profile);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error(`${query} was taken`);
}

describe("parseListOptions", () => {
  it("reads every parameter, and what its absence means", () => {
    expect(parse("")).toMatchObject({
      watch: false,
      allowWatchBookmarks: false,
      resourceVersion: "",
      resourceVersionMatch: "",
      timeoutSeconds: undefined,
      limit: 0,
      continue: "",
      sendInitialEvents: undefined,
    });
    const query = "watch=maybe&allowWatchBookmarks&limit=-1&timeoutSeconds=5&labelSelector=a%3Db&continue=t";
    expect(parse(query)).toMatchObject({
      watch: true,
      allowWatchBookmarks: true,
      limit: 0,
      timeoutSeconds: 5,
      continue: "t",
    });
    expect(parse("watch=false&allowWatchBookmarks=0")).toMatchObject({ watch: false, allowWatchBookmarks: false });
  });

  it.each([
    ["limit=abc", 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ["limit=", 'strconv.ParseInt: parsing "": invalid syntax'],
    ["timeoutSeconds=99999999999999999999", 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ["labelSelector=a%20in%20b", "unable to parse requirement: found 'b' expected: '('"],
    ["fieldSelector=metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ])("%s: 400", (query, message) => {
    for (const profile of [svcProfile, kubernetesProfile]) {
      expect(refusal(query, profile)).toMatchObject({ code: 400, message });
    }
  });

  // As recorded from a real server.
  const requires =
    "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
  const closedGate =
    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
  const onlyNotOlder = 'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"';
  it.each([
    [
      "resourceVersionMatch=Exact",
      "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
    ],
    [
      "resourceVersion=0&resourceVersionMatch=Exact",
      'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      "resourceVersion=5&resourceVersionMatch=Exact&continue=t",
      "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
    ],
    [
      "resourceVersion=5&resourceVersionMatch=Sometimes",
      'resourceVersionMatch: Unsupported value: "Sometimes": supported values: "Exact", "NotOlderThan", ""',
    ],
    ["sendInitialEvents=true", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"],
    ["watch=1&sendInitialEvents=true", `[${requires}, ${closedGate}]`],
    ["watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", closedGate],
    [
      "watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=5",
      `[${requires}, ${closedGate}, ${onlyNotOlder}]`,
    ],
    [
      "watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=5",
      "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    ],
  ])("%s: 422 with every cause, or 400", (query, text) => {
    const error = refusal(query);
    expect(error.message).toBe(`ListOptions.meta.k8s.io "" is invalid: ${text}`);
    expect(error.status).toMatchObject({
      code: 422,
      reason: "Invalid",
      details: { group: "meta.k8s.io", kind: "ListOptions" },
    });
    expect(refusal(query, svcProfile)).toMatchObject({ code: 400 });
  });

  it("starts a watch without a version with initial events while the gate is on", () => {
    const defaulted = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
    expect(parse("watch=1", gated)).toMatchObject(defaulted);
    expect(parse("watch=1&resourceVersion=0", gated)).toMatchObject(defaulted);
    expect(parse("watch=1&resourceVersion=5", gated)).toMatchObject({ sendInitialEvents: undefined });
    expect(parse("", gated)).toMatchObject({ sendInitialEvents: undefined });
    expect(refusal("watch=1&continue=abc", gated).message).toContain("forbidden when continue is provided");
    expect(parse("watch=1&continue=abc")).toMatchObject({ watch: true });
  });

  it("takes selectors of a hundred thousand terms and values, and refuses longer ones unread", () => {
    const values = (count: number) => `labelSelector=a in (${Array.from({ length: count }, (_, at) => at).join(",")})`;
    expect(parse(values(100_000)).labelSelector.requirements).toHaveLength(1);
    for (const query of [values(100_001), `fieldSelector=${"metadata.name!=a,".repeat(100_000)}`])
      expect(refusal(query).message).toContain("the limit of terms and values is 100000");
  });
});
