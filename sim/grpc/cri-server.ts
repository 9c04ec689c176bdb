/** A container runtime as a gRPC server on a unix socket, for agents and tools in processes of their own. */
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import {
  type CriAnswer,
  type CriMethod,
  criMethods,
  type CriMethodRow,
  type CriRequest,
  grpcCode,
} from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { LoopShare } from "../kernel/loop-share.ts";
import type { PacedSessions } from "../kernel/paced-sessions.ts";
import type { Cancel, Process } from "../kernel/types.ts";
import type { WallDriver } from "../kernel/wall-driver.ts";
import { ArrivingCalls } from "./arriving-calls.ts";
import { decodeMessage, encodeMessage, TooManyValues } from "./cri-codec.ts";
import { type Configurations, KeptConfigurations } from "./kept-configurations.ts";
import { type CallsAnswers, UnreadAnswers, unreadText } from "./unread-answers.ts";

export interface CriServerOptions {
  /** `unix:///path`. */
  readonly address: string;
  readonly driver: WallDriver;
  /** Calls take turns: what is large comes behind what is small. */
  readonly share: LoopShare;
  readonly sessions: PacedSessions;
  /** Whose event each call is. */
  readonly process: Process;
  readonly runtime: CriRuntime;
  /** Of all pods and containers that there are. */
  readonly configurations: Configurations;
  /** Changes of a running runtime, as `touchstone runtime set` sends them: a JSON text. Throws with what is wrong. */
  readonly onControl: (text: string) => void;
}

/** What one caller may ask of a runtime. docs/runtime.md tells them. */
const criLimits = {
  /** Of one call. No pod is larger than 3 MiB. */
  requestBytesMax: 4 << 20,
  /** In one call: fields, items and members at any depth, and what nobody knows. */
  requestValuesMax: 100_000,
  /** Of calls that are not complete yet or wait for their turn, of all callers. */
  arrivingBytesMax: 64 << 20,
  /** At one time, of one connection. An agent has some dozens. */
  connectionCallsMax: 1_000,
  /** Answers and events that nobody has read yet, of all callers. */
  unreadBytesMax: 256 << 20,
  /** Of all pods and containers that there are, as they were asked for. */
  configurationBytesMax: 512 << 20,
  /** Of why a call failed. */
  detailsCharactersMax: 4096,
} as const;

/** A call that brings more comes behind the small ones. */
const smallBytesMax = 16 * 1024;

/** Method of Touchstone's own that changes a running runtime. */
export const controlPath = "/touchstone.control.v1.Control/Set";

/** What the callers of a runtime share. */
interface Shared {
  readonly arriving: ArrivingCalls;
  readonly unread: UnreadAnswers;
  /** An event is written once, however many hear of it. */
  readonly events: WeakMap<object, Buffer>;
  readonly configurations: KeptConfigurations;
}

export async function serveCri(options: CriServerOptions): Promise<{ close(): void }> {
  const arriving = new ArrivingCalls(criLimits.arrivingBytesMax, options.sessions);
  const shared: Shared = {
    arriving,
    unread: new UnreadAnswers(criLimits.unreadBytesMax),
    events: new WeakMap(),
    configurations: new KeptConfigurations(criLimits.configurationBytesMax, options.configurations),
  };
  const server = new Server({
    interceptors: [arriving.interceptor],
    "grpc.max_receive_message_length": criLimits.requestBytesMax,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": criLimits.connectionCallsMax,
  });
  for (const service of new Set(criMethods.map((row) => row.service))) {
    const definition: Record<string, ServiceDefinition[string]> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const row of criMethods.filter((each) => each.service === service)) {
      definition[row.method] = {
        path: `/${service}/${row.method}`,
        requestStream: false,
        responseStream: row.streams,
        // Messages are read and written in their turn, by the handler.
        requestSerialize: asItIs,
        requestDeserialize: asItIs,
        responseSerialize: asItIs,
        responseDeserialize: asItIs,
      };
      implementation[row.method] = row.streams ? stream(options, row, shared) : unary(options, row, shared);
    }
    server.addService(definition, implementation);
  }
  server.addService(controlService, { Set: control(options, arriving) });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(options.address, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return { close: () => server.forceShutdown() };
}

const asItIs = (bytes: Buffer): Buffer => bytes;

const controlService: ServiceDefinition = {
  Set: {
    path: controlPath,
    requestStream: false,
    responseStream: false,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  },
};

const control =
  ({ driver, process, onControl }: CriServerOptions, arriving: ArrivingCalls): handleUnaryCall<Buffer, Buffer> =>
  (call, callback) => {
    arriving.begins(call.request);
    try {
      driver.enter(process, () => onControl(call.request.toString("utf8")));
      callback(null, Buffer.alloc(0));
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      callback({ code: 3, details: cause instanceof Error ? cause.message : String(cause) });
    }
  };

const unary =
  (
    { driver, process, runtime, share }: CriServerOptions,
    row: CriMethodRow,
    { arriving, unread, configurations }: Shared,
  ): handleUnaryCall<Buffer, Buffer> =>
  (call, callback) => {
    const answers = unread.of(call);
    let cancel: Cancel = () => {};
    let isGone = false;
    let made = (): void => {};
    call.on("cancelled", () => {
      isGone = true;
      made();
      driver.enter(process, () => cancel());
    });
    const refuse = (code: number, details: string): void => callback({ code, details: shortened(details) });
    const answered = (answer: CriAnswer): void => {
      made();
      if (isGone) return;
      if (!answer.ok) refuse(answer.code, answer.text);
      else {
        const bytes = encodeMessage(row.response, answer.message);
        if (!answers.hasRoomFor(bytes.length)) refuse(grpcCode.resourceExhausted, unreadText);
        else {
          answers.given(bytes.length);
          callback(null, bytes);
        }
      }
    };
    const isLarge = hasLargeAnswer(row);
    const carryOut = (): void => {
      if (isGone) return;
      arriving.begins(call.request);
      const message = decoded(row, call.request);
      if ("code" in message) {
        refuse(message.code, message.details);
        return;
      }
      const { config } = message.is as { readonly config?: object };
      if (config !== undefined && makesSomething.has(row.method)) {
        if (!configurations.hasRoomFor(call.request.length)) {
          refuse(grpcCode.resourceExhausted, fullText);
          return;
        }
        made = configurations.add(config, call.request.length);
      }
      driver.enter(process, () => {
        cancel = runtime.start(
          { method: row.method as CriMethod, message: message.is } as CriRequest,
          (answer) =>
            isLarge
              ? share.later(
                  call,
                  guarded(refuse, () => answered(answer)),
                )
              : answered(answer),
          () => refuse(grpcCode.unavailable, "the runtime is gone"),
        );
      });
    };
    share.begin(call, guarded(refuse, carryOut), () => isLarge || call.request.length > smallBytesMax);
  };

/** What they make stays until it is removed. */
const makesSomething: ReadonlySet<string> = new Set(["RunPodSandbox", "CreateContainer"]);
const fullText = "the runtime keeps as much of pods and containers as it can: remove some";

/** What was asked for may be quoted in why not, and goes into a header. */
const shortened = (details: string): string =>
  details.length <= criLimits.detailsCharactersMax
    ? details
    : `${details.slice(0, criLimits.detailsCharactersMax).toWellFormed()}…`;

/** A bug of ours is told to this caller, and to nobody else. */
const guarded =
  (refuse: (code: number, details: string) => void, work: () => void): (() => void) =>
  () => {
    try {
      work();
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      refuse(grpcCode.internal, `touchstone broke: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  };

/** What is behind the others when it is carried out and when it is answered: it may tell of everything there is. */
const hasLargeAnswer = ({ method }: CriMethodRow): boolean => /^List|^ExecSync$|^ReadPath$/.test(method);

type Decoded = { readonly is: object } | { readonly code: number; readonly details: string };

function decoded({ request }: CriMethodRow, bytes: Buffer): Decoded {
  try {
    return { is: decodeMessage(request, bytes, criLimits.requestValuesMax) };
  } catch (error) {
    const details = `Error deserializing request: ${(error as Error).message}`;
    return { code: error instanceof TooManyValues ? grpcCode.resourceExhausted : grpcCode.internal, details };
  }
}

const stream =
  (
    { driver, process, runtime }: CriServerOptions,
    row: CriMethodRow,
    { arriving, unread, events }: Shared,
  ): handleServerStreamingCall<Buffer, Buffer> =>
  (call) => {
    arriving.begins(call.request);
    const answers: CallsAnswers = unread.of(call);
    let cancel: Cancel = () => {};
    let isOver = false;
    const end = (): void => {
      isOver = true;
      cancel();
    };
    const event = (message: object): void => {
      if (isOver) return;
      let bytes = events.get(message);
      if (bytes === undefined) {
        bytes = encodeMessage(row.response, message);
        events.set(message, bytes);
      }
      if (answers.hasRoomFor(bytes.length)) {
        call.write(bytes, answers.given(bytes.length));
        return;
      }
      end();
      call.emit("error", { code: grpcCode.resourceExhausted, details: unreadText });
    };
    cancel = driver.enter(process, () => runtime.events(process, { event, ended: () => call.end() }));
    call.on("cancelled", () => driver.enter(process, end));
  };
