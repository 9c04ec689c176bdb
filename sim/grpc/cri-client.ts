/** A container runtime over gRPC, as the port that agents call: containerd's socket, or `touchstone runtime`'s. */
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { type CriAnswer, type CriEventSink, criMethod, type CriMethodRow, type CriRequest } from "../../wire/cri.ts";
import type { CriStreams } from "../../wire/cri-messages.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { CallFailure, Cancel, Process } from "../kernel/types.ts";
import type { WallDriver } from "../kernel/wall-driver.ts";
import { decodeMessage, encodeMessage } from "./cri-codec.ts";
import { errorText } from "./error-text.ts";

/** Bytes of an answer: as many as the real agent's client takes. */
const MESSAGE_BYTES_MAX = 16 << 20;

export class GrpcRuntime implements CriRuntime {
  private readonly client: Client;
  private readonly images: Client;
  private isClosed = false;
  private readonly live = new Set<{ cancel(): void }>();
  private readonly driver: WallDriver;
  private readonly process: Process;

  /** `address`, and that of the image service: `unix:///path`. Answers arrive in events of `process`. */
  constructor(address: string, driver: WallDriver, process: Process, imageAddress = address) {
    this.driver = driver;
    this.process = process;
    this.client = clientOf(address);
    this.images = imageAddress === address ? this.client : clientOf(imageAddress);
  }

  start(request: CriRequest, done: (answer: CriAnswer) => void, _fail: (failure: CallFailure) => void): Cancel {
    // Nobody hears what comes after the end, nor asks for more because of it.
    if (this.isClosed) return () => {};
    const row = criMethod(request.method) as CriMethodRow;
    const client = row.service.endsWith("ImageService") ? this.images : this.client;
    const call = client.makeUnaryRequest(
      pathOf(row),
      (message: object) => encodeMessage(row.request, message),
      (bytes: Buffer) => decodeMessage(row.response, bytes),
      request.message,
      (error: ServiceError | null, message?: object) => {
        this.live.delete(call);
        const answer: CriAnswer =
          error === null
            ? { ok: true, message: message as CriAnswer<never> & object as never }
            : { ok: false, code: error.code, text: errorText(error) };
        if (this.process.alive && !this.isClosed) this.driver.enter(this.process, () => done(answer));
      },
    );
    this.live.add(call);
    return () => call.cancel();
  }

  events(reader: Process, sink: CriEventSink): Cancel {
    const row = criMethod("GetContainerEvents") as CriMethodRow;
    const call = this.client.makeServerStreamRequest(
      pathOf(row),
      (message: object) => encodeMessage(row.request, message),
      (bytes: Buffer) => decodeMessage(row.response, bytes) as CriStreams["GetContainerEvents"]["response"],
      {},
    );
    const enter = (work: () => void): void => {
      if (reader.alive && !this.isClosed) this.driver.enter(reader, work);
    };
    call.on("data", (message: CriStreams["GetContainerEvents"]["response"]) => enter(() => sink.event(message)));
    call.on("error", (error: ServiceError) => enter(() => sink.ended(error.code, errorText(error))));
    call.on("end", () => enter(() => sink.ended(0, "")));
    this.live.add(call);
    call.on("close", () => this.live.delete(call));
    const forget = reader.onCrash(() => call.cancel());
    return () => {
      forget();
      call.cancel();
    };
  }

  close(): void {
    this.isClosed = true;
    // A client that is closed still waits for what it has asked.
    for (const call of this.live) call.cancel();
    this.client.close();
    this.images.close();
  }
}

const clientOf = (address: string): Client =>
  new Client(address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    // A connection of its own: one that a server's end has broken is nobody else's.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 3000,
  });

const pathOf = (row: CriMethodRow): string => `/${row.service}/${row.method}`;
