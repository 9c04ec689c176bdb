/**
 * The messages of a tunnel in a stream of gRPC: a packet asks for a connection, tells of one, carries its bytes or ends
 * it. Source: the published konnectivity client's protocol (service ProxyService, method Proxy).
 */
import protobuf from "protobufjs";

export const packetTypes = {
  dialRequest: 0,
  dialResponse: 1,
  closeRequest: 2,
  closeResponse: 3,
  data: 4,
  closeDial: 5,
  drain: 6,
};

/** The path of the one method. */
export const proxyMethod = "/ProxyService/Proxy";

/** Numbers of 64 bits come as longs, and are only ever sent back. */
export type ConnectionId = number | { readonly low: number; readonly high: number; readonly unsigned: boolean };

/** What is not in a packet is null when it has been read. */
export interface Packet {
  readonly type?: number;
  readonly dialRequest?: { readonly protocol: string; readonly address: string; readonly random: ConnectionId } | null;
  readonly dialResponse?: {
    readonly error?: string;
    readonly connectID?: ConnectionId;
    readonly random?: ConnectionId;
  } | null;
  readonly data?: { readonly connectID: ConnectionId; readonly error?: string; readonly data: Uint8Array } | null;
  readonly closeRequest?: { readonly connectID: ConnectionId } | null;
  readonly closeResponse?: { readonly error?: string; readonly connectID?: ConnectionId } | null;
}

const fields = (rows: Readonly<Record<string, readonly [id: number, type: string]>>) => ({
  fields: Object.fromEntries(Object.entries(rows).map(([name, [id, type]]) => [name, { id, type }])),
});

const root = protobuf.Root.fromJSON({
  nested: {
    DialRequest: fields({ protocol: [1, "string"], address: [2, "string"], random: [3, "int64"] }),
    DialResponse: fields({ error: [1, "string"], connectID: [2, "int64"], random: [3, "int64"] }),
    CloseRequest: fields({ connectID: [1, "int64"] }),
    CloseResponse: fields({ error: [1, "string"], connectID: [2, "int64"] }),
    Data: fields({ connectID: [1, "int64"], error: [2, "string"], data: [3, "bytes"] }),
    CloseDial: fields({ random: [1, "int64"] }),
    Drain: fields({}),
    Packet: fields({
      type: [1, "int32"],
      dialRequest: [2, "DialRequest"],
      dialResponse: [3, "DialResponse"],
      data: [4, "Data"],
      closeRequest: [5, "CloseRequest"],
      closeResponse: [6, "CloseResponse"],
      closeDial: [7, "CloseDial"],
      drain: [8, "Drain"],
    }),
  },
});

const packet = root.lookupType("Packet");

export const encodePacket = (message: Packet): Buffer => Buffer.from(packet.encode(message).finish());
export const decodePacket = (bytes: Uint8Array): Packet => packet.decode(bytes) as unknown as Packet;
