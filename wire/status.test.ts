import { describe, expect, it } from "vitest";
import { isFailure, isStatus, reasonCodes, statusDefect } from "./status.ts";

const expired = {
  kind: "Status",
  apiVersion: "v1",
  metadata: { continue: "token" },
  status: "Failure",
  message: "The resourceVersion for the provided list is too old.",
  reason: "Expired",
  code: 410,
};
const deleted = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: { name: "a", kind: "configmaps", uid: "u" },
};

describe("status", () => {
  it("accepts what a server sends", () => {
    expect(isStatus(expired)).toBe(true);
    expect(isStatus(deleted)).toBe(true);
    expect(isStatus({ ...expired, reason: "SomethingNew", details: { causes: [{ reason: "X", message: "y" }] } })).toBe(
      true,
    );
  });

  it.each([
    [null, ". must be an object"],
    [[], ". must be an object"],
    [{ ...expired, kind: "status" }, ".kind must be Status"],
    [{ ...expired, apiVersion: "v2" }, ".apiVersion must be v1"],
    [{ ...expired, metadata: undefined }, ".metadata must be an object"],
    [{ ...expired, status: "Failed" }, ".status must be Success or Failure"],
    [{ ...expired, message: 1 }, ".message must be a string"],
    [{ ...expired, code: "410" }, ".code must be an integer from 100 to 599"],
    [{ ...expired, details: null }, ".details must be an object"],
    [{ ...expired, details: { kind: 1 } }, ".details.kind must be a string"],
    [
      { ...expired, details: { retryAfterSeconds: 1.5 } },
      ".details.retryAfterSeconds must be an integer from 0 to 2147483647",
    ],
    [{ ...expired, details: { causes: {} } }, ".details.causes must be a list"],
    [{ ...expired, details: { causes: ["x"] } }, ".details.causes[0] must be an object"],
    [{ ...expired, details: { causes: [{ field: 1 }] } }, ".details.causes[0].field must be a string"],
  ])("rejects %j", (value, defect) => {
    expect(statusDefect(value)).toBe(defect);
    expect(isStatus(value)).toBe(false);
  });

  it("tells a failure by reason and code together", () => {
    expect(isFailure(expired, "Expired")).toBe(true);
    expect(isFailure({ ...expired, code: 200 }, "Expired")).toBe(false);
    expect(isFailure({ ...expired, reason: "Gone" }, "Expired")).toBe(false);
    expect(isFailure({ ...expired, status: "Success" }, "Expired")).toBe(false);
    expect(isFailure(undefined, "Expired")).toBe(false);
    expect(reasonCodes.Conflict).toBe(409);
  });
});
