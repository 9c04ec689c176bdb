import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { errorText } from "./error-text.ts";

it("says nothing of a note that is empty, and keeps one that is not", async () => {
  const client = new Client("unix:///nowhere/runtime.sock", credentials.createInsecure());
  const bytes = (value: Buffer): Buffer => value;
  const error = await new Promise<ServiceError | null>((resolve) => {
    client.makeUnaryRequest("/a/B", bytes, bytes, Buffer.alloc(0), resolve);
  });
  client.close();
  const told = errorText(error as ServiceError);
  expect(told).toContain("ENOENT");
  expect(told).not.toMatch(/Resolution note|\s$/);
  expect(errorText({ details: "No connection. Resolution note: no such host" })).toContain("no such host");
});
