/**
 * A connection through a gRPC tunnel server at a unix socket: a stream of its own for each, as the observed server opens
 * them. Source: the published konnectivity client; document 2, Transport, uds.
 */
import { Duplex } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js";
import {
  decodePacket,
  encodePacket,
  type ConnectionId,
  type Packet,
  packetTypes,
  proxyMethod,
} from "./tunnel-messages.ts";

type Stream = ClientDuplexStream<Packet, Packet>;

/** Of a packet: what the tunnel server's own transport takes. */
const dataBytesMax = 32 * 1024;
const dialMillisMax = 30_000;

/** `address` is `host:port`, dialled by the tunnel's other end. `done` is called once, later. */
export function openGrpcTunnel(
  socketPath: string,
  address: string,
  done: (error: Error | null, stream?: Duplex) => void,
): void {
  const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
  const stream: Stream = client.makeBidiStreamRequest(proxyMethod, encodePacket, decodePacket);
  let opened: TunnelStream | undefined;
  let isOver = false;
  const end = (error: Error): void => {
    clearTimeout(timer);
    client.close();
    if (opened !== undefined) opened.ended(error);
    else if (!isOver) done(error);
    isOver = true;
  };
  const timer = setTimeout(() => {
    stream.cancel();
    end(new Error(`the tunnel has not connected to ${address} within ${dialMillisMax / 1_000} s`));
  }, dialMillisMax);
  stream.on("error", (error: Error) => end(error));
  stream.on("end", () => end(new Error("the tunnel has ended")));
  stream.on("data", (packet: Packet) => {
    if (packet.dialResponse != null && opened === undefined && !isOver) {
      const { error = "", connectID = 0 } = packet.dialResponse;
      if (error !== "") {
        stream.cancel();
        end(new Error(`the tunnel cannot connect to ${address}: ${error}`));
        return;
      }
      clearTimeout(timer);
      opened = new TunnelStream(stream, connectID);
      done(null, opened);
    } else opened?.receive(packet);
  });
  // One stream serves one connection, so that the number only has to be there.
  const dialRequest = { protocol: "tcp", address, random: 1 };
  stream.write({ type: packetTypes.dialRequest, dialRequest });
}

/** The bytes of one connection. */
class TunnelStream extends Duplex {
  private readonly stream: Stream;
  private readonly connectID: ConnectionId;

  constructor(stream: Stream, connectID: ConnectionId) {
    super({ allowHalfOpen: false });
    this.stream = stream;
    this.connectID = connectID;
  }

  receive({ data, closeResponse }: Packet): void {
    if (data != null && !this.push(data.data)) this.stream.pause();
    if (closeResponse != null) this.push(null);
  }

  ended(error: Error): void {
    if (this.readableEnded || this.writableFinished) this.destroy();
    else this.destroy(error);
  }

  override _read(): void {
    this.stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: (error?: Error | null) => void): void {
    const { connectID } = this;
    let isRoomy = true;
    for (let at = 0; at < chunk.length; at += dataBytesMax) {
      const data = { connectID, data: chunk.subarray(at, at + dataBytesMax) };
      isRoomy = this.stream.write({ type: packetTypes.data, data });
    }
    if (isRoomy) written();
    else this.stream.once("drain", () => written());
  }

  override _final(done: () => void): void {
    this.stream.write({ type: packetTypes.closeRequest, closeRequest: { connectID: this.connectID } });
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.stream.cancel();
    done(error);
  }
}
