import { expect, it } from "vitest";
import { scriptedTransport, jumpingClock } from "../testing/scripted-target.fixture.ts";
import { Client } from "./client.ts";
import { Recorder } from "./recorder.ts";
import { causesOf, isFailureStatus, messageOf, reasonOf, shownAnswer } from "./status-document.ts";

async function answerOf(status: number, json: unknown) {
  const clock = jumpingClock();
  return new Client(
    scriptedTransport(() => ({ status, json })),
    clock,
    new Recorder(clock),
    "test",
  ).request("GET", "/");
}

it("reads a Status", async () => {
  const causes = [{ reason: "FieldValueRequired", field: "spec.a" }, "no cause"];
  const answer = await answerOf(422, {
    kind: "Status",
    status: "Failure",
    reason: "Invalid",
    message: "no",
    code: 422,
    details: { causes },
  });
  expect([reasonOf(answer), messageOf(answer), isFailureStatus(answer)]).toEqual(["Invalid", "no", true]);
  expect(causesOf(answer)).toEqual([{ reason: "FieldValueRequired", field: "spec.a", message: "" }]);
  expect(shownAnswer(answer)).toBe("422 Invalid: no");
});

it("finds nothing in what is none", async () => {
  const answer = await answerOf(500, { kind: "Other" });
  expect([reasonOf(answer), causesOf(answer), isFailureStatus(answer)]).toEqual(["", [], false]);
  expect(isFailureStatus(await answerOf(401, { kind: "Status", status: "Failure", code: 403 }))).toBe(false);
});
