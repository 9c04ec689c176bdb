/** Changes a runtime that runs in another process. */
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { controlPath } from "./cri-server.ts";
import { errorText } from "./error-text.ts";

/** Sends one change; undefined when it was made. `text` says what the runtime has against it, where it was reached. */
export function setRuntime(
  address: string,
  control: string,
): Promise<{ readonly unreachable: boolean; readonly text: string } | undefined> {
  const client = new Client(address, credentials.createInsecure());
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      controlPath,
      (value: string) => Buffer.from(value),
      (bytes: Buffer) => bytes.toString("utf8"),
      control,
      { deadline: Date.now() + DEADLINE_MILLIS },
      (error: ServiceError | null) => {
        client.close();
        resolve(
          error === null ? undefined : { unreachable: error.code === 14 || error.code === 4, text: errorText(error) },
        );
      },
    );
  });
}

const DEADLINE_MILLIS = 5000;
