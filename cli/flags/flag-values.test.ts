import { describe, expect, it } from "vitest";
import { serverBugNames } from "../../sim/planted/server-bugs.ts";
import {
  boolean,
  commaList,
  duration,
  fault,
  faultList,
  featureGates,
  programPath,
  serverUrl,
  serviceNetwork,
} from "./flag-values.ts";

const valueOf = (result: { success: boolean; value?: unknown }): unknown => (result.success ? result.value : "refused");

describe("values of flags", () => {
  it("reads durations as microseconds and writes them back short", () => {
    const parser = duration();
    expect(valueOf(parser.parse("1h30m"))).toBe(5_400_000_000);
    expect(valueOf(parser.parse("1.5s"))).toBe(1_500_000);
    expect(parser.format(5_400_000_000)).toBe("90m");
    expect(parser.format(1_500_000)).toBe("1500ms");
    for (const wrong of ["5", "", "-1s", "0", "1ns", "5 m", "one"])
      expect(valueOf(parser.parse(wrong)), wrong).toBe("refused");
  });

  it("takes URLs with a path prefix and drops a trailing slash", () => {
    const parser = serverUrl();
    expect(valueOf(parser.parse("http://127.0.0.1:8001"))).toBe("http://127.0.0.1:8001");
    expect(valueOf(parser.parse("https://host/clusters/one/"))).toBe("https://host/clusters/one");
    for (const wrong of ["host:80", "ftp://h", "http://h/?a=b", "http://h#x", "http://u:p@h", "/path"]) {
      expect(valueOf(parser.parse(wrong)), wrong).toBe("refused");
    }
  });

  it("takes a block of addresses for services, and says which one where it cannot be", () => {
    expect(valueOf(serviceNetwork().parse("10.96.0.9/12"))).toMatchObject({ text: "10.96.0.0/12" });
    expect(JSON.stringify(serviceNetwork().parse("10.96.0.0/8"))).toContain("a prefix of 12 to 29 bits");
    expect(JSON.stringify(serviceNetwork().parse("10.96.0.0"))).toContain("such as 10.96.0.0/16");
  });

  it("takes feature gates as the real server does", () => {
    const parser = featureGates();
    expect(valueOf(parser.parse("WatchList=true, APIResponseCompression=false"))).toEqual({
      WatchList: true,
      APIResponseCompression: false,
    });
    for (const wrong of ["", "WatchList", "WatchList=yes", "watchlist=true", "WatchList=true,"])
      expect(valueOf(parser.parse(wrong)), wrong).toBe("refused");
  });

  it("names near faults when there is none of that name", () => {
    const result = fault().parse("watch-start-exclusive");
    expect(result.success).toBe(false);
    expect(JSON.stringify(result)).toContain("watch-start-inclusive");
    expect(JSON.stringify(fault().parse("all"))).toContain("conform --faults all");
    expect(JSON.stringify(fault().parse("list-null-items,dry-run-persists"))).toContain("give it once for each");
    expect(valueOf(fault().parse("watch-start-inclusive"))).toBe("watch-start-inclusive");
  });

  it("hunts all faults, or those that are named", () => {
    expect(valueOf(faultList().parse("all"))).toHaveLength(serverBugNames.length);
    expect(valueOf(faultList().parse("list-null-items, dry-run-persists"))).toEqual([
      "list-null-items",
      "dry-run-persists",
    ]);
    expect(JSON.stringify(faultList().parse("all,list-null-items"))).toContain("give it alone");
    expect(JSON.stringify(faultList().parse("list-null-items,all"))).toContain("give it alone");
    expect(JSON.stringify(faultList().parse("list-null-items,list-null-items"))).toContain("given twice");
  });

  it("reads paths of programs", () => {
    for (const path of ["0", "34:2:1:1"]) expect(valueOf(programPath().parse(path))).toBe(path);
    for (const wrong of ["abc", "", "1:", "-1", "1.5", "1e3"])
      expect(valueOf(programPath().parse(wrong))).toBe("refused");
  });

  it("splits lists and reads booleans strictly", () => {
    expect(valueOf(commaList("NAMES").parse("a, b"))).toEqual(["a", "b"]);
    expect(valueOf(commaList("NAMES").parse("a,,b"))).toBe("refused");
    expect(valueOf(boolean().parse("false"))).toBe(false);
    expect(valueOf(boolean().parse("0"))).toBe("refused");
  });
});
