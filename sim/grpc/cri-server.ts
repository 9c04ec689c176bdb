/** A container runtime as a gRPC server on a unix socket, for agents and tools in processes of their own. */
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { type CriMethod, criMethods, type CriRequest } from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { Cancel, Process } from "../kernel/types.ts";
import type { WallDriver } from "../kernel/wall-driver.ts";
import { decodeMessage, encodeMessage } from "./cri-codec.ts";

export interface CriServerOptions {
  /** `unix:///path`. */
  readonly address: string;
  readonly driver: WallDriver;
  /** Whose event each call is. */
  readonly process: Process;
  readonly runtime: CriRuntime;
  /** Changes of a running runtime, as `touchstone runtime set` sends them: a JSON text. Throws with what is wrong. */
  readonly onControl: (text: string) => void;
}

/** Bytes that a call may bring: what the agent's own client takes. */
const MESSAGE_BYTES_MAX = 16 << 20;

/** Method of Touchstone's own that changes a running runtime. */
export const controlPath = "/touchstone.control.v1.Control/Set";

export async function serveCri(options: CriServerOptions): Promise<{ close(): void }> {
  const server = new Server({
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_send_message_length": -1,
  });
  for (const service of new Set(criMethods.map((row) => row.service))) {
    const definition: Record<string, ServiceDefinition[string]> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const row of criMethods.filter((each) => each.service === service)) {
      definition[row.method] = {
        path: `/${service}/${row.method}`,
        requestStream: false,
        responseStream: row.streams,
        requestSerialize: (message: object) => encodeMessage(row.request, message),
        requestDeserialize: (bytes: Buffer) => decodeMessage(row.request, bytes),
        responseSerialize: (message: object) => encodeMessage(row.response, message),
        responseDeserialize: (bytes: Buffer) => decodeMessage(row.response, bytes),
      };
      implementation[row.method] = row.streams ? stream(options) : unary(options, row.method as CriMethod);
    }
    server.addService(definition, implementation);
  }
  server.addService(controlService, { Set: control(options) });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(options.address, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return { close: () => server.forceShutdown() };
}

const text = {
  serialize: (value: string) => Buffer.from(value),
  deserialize: (bytes: Buffer) => bytes.toString("utf8"),
};

const controlService: ServiceDefinition = {
  Set: {
    path: controlPath,
    requestStream: false,
    responseStream: false,
    requestSerialize: text.serialize,
    requestDeserialize: text.deserialize,
    responseSerialize: text.serialize,
    responseDeserialize: text.deserialize,
  },
};

const control =
  ({ driver, process, onControl }: CriServerOptions): handleUnaryCall<string, string> =>
  (call, callback) => {
    try {
      driver.enter(process, () => onControl(call.request));
      callback(null, "");
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      callback({ code: 3, details: cause instanceof Error ? cause.message : String(cause) });
    }
  };

const unary =
  ({ driver, process, runtime }: CriServerOptions, method: CriMethod): handleUnaryCall<object, object> =>
  (call, callback) => {
    let cancel: Cancel = () => {};
    call.on("cancelled", () => driver.enter(process, () => cancel()));
    const request = { method, message: call.request } as CriRequest;
    const refuse = (code: number, details: string): void => callback({ code, details });
    try {
      driver.enter(process, () => {
        cancel = runtime.start(
          request,
          (answer) => (answer.ok ? callback(null, answer.message) : refuse(answer.code, answer.text)),
          () => refuse(14, "the runtime is gone"),
        );
      });
    } catch (error) {
      // A bug of ours is told to this caller, and to nobody else.
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      refuse(13, `touchstone broke: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  };

const stream =
  ({ driver, process, runtime }: CriServerOptions): handleServerStreamingCall<object, object> =>
  (call) => {
    const cancel = driver.enter(process, () =>
      runtime.events(process, { event: (message) => call.write(message), ended: () => call.end() }),
    );
    call.on("cancelled", () => driver.enter(process, () => cancel()));
  };
