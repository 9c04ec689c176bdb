import type { Seat } from "../kernel/roster.ts";
import type { CallFailure, Cancel, CrashListener, CrashSeat, Micros, Process } from "../kernel/types.ts";
import { drawDelay, isDoubled, isPassable, type Link, type LinkUser } from "./link.ts";
import type { Address, Network } from "./network.ts";

/** What each end does when it learns that the other is gone. Each is called at most once, in an event of its own process. */
export interface ConnectionEnds<Service> {
  /** The request has arrived: the server end begins. */
  accepted(service: Service): void;
  /** The same request has arrived once more; nobody hears what becomes of it. Default: ignored. */
  readonly repeated?: ((service: Service) => void) | undefined;
  clientLost(failure: CallFailure): void;
  serverLost(): void;
}

/** What a message is, for whoever looks on, and how large, for a narrow link. Each is asked only when somebody wants to know. */
export interface Cargo {
  about(): string;
  bytes(): number;
}

const plain: Cargo = { about: () => "", bytes: () => 200 };
const farewell: Cargo = { about: () => "goes away", bytes: () => 40 };
const reset: Cargo = { about: () => "connection reset", bytes: () => 40 };

/** One direction of a connection: messages arrive in the order of sending, until one is lost. */
interface Lane {
  readonly link: Link;
  readyAtMicros: Micros;
  lost: boolean;
}

const nothing: Cancel = () => {};

const laneOf = (link: Link): Lane => ({ link, readyAtMicros: 0, lost: !isPassable(link) });

/** The links between a client and an address, which stay the same: looked up by the first exchange between them. */
export interface Path {
  up?: Link;
  down?: Link;
}

/**
 * One exchange between a client process and whoever listens at an address. Messages cross the link of
 * their direction, in order. A cut loses what is on its way in that direction and all that would follow:
 * each end notices after the network's detection time. A crash of either process is seen by the other
 * one latency later, as a connection reset.
 *
 * Simplification: a healed cut does not revive a connection; TCP would send again what was lost, and a short
 * cut would pass as a delay.
 */
export class Connection<Service> implements LinkUser, CrashListener {
  private readonly network: Network;
  private readonly client: Process;
  private readonly server: Process | undefined;
  private readonly ends: ConnectionEnds<Service>;
  private readonly request: Cargo;
  private readonly up: Lane;
  private readonly down: Lane;
  private clientOpen = true;
  private serverState: "awaited" | "open" | "closed" = "awaited";
  private detecting = false;
  private cancelClientDetection = nothing;
  private cancelServerDetection = nothing;
  /** Of who crosses the two links. */
  private readonly seat: Seat<LinkUser>;
  private readonly clientSeat: CrashSeat;
  private serverSeat: CrashSeat | undefined;

  /** The request sets out at once; `ends` hears of everything later. */
  constructor(
    network: Network,
    client: Process,
    address: Address<Service>,
    ends: ConnectionEnds<Service>,
    request: Cargo = plain,
    path: Path = {},
  ) {
    this.network = network;
    this.request = request;
    this.client = client;
    this.ends = ends;
    this.up = laneOf((path.up ??= network.link(client.name, address.name)));
    this.down = laneOf((path.down ??= network.link(address.name, client.name)));
    this.seat = this.up.link.users.join(this);
    this.clientSeat = client.joinCrash(this);
    this.server = address.current?.process;
    if (address.current === undefined) this.refuse();
    else this.connect(address.current.process, address.current.service);
    if (this.up.link.cut || this.down.link.cut) this.detect();
  }

  /** Sends to the client. Nothing arrives once the client has gone, and nothing leaves a server that has crashed. */
  toClient(deliver: () => void, cargo: Cargo = plain): void {
    if (this.server?.alive === true) this.send(this.down, this.client, cargo, deliver, "next");
  }

  /** As `toClient`, and with it the exchange is over for both ends. */
  finish(deliver: () => void, cargo: Cargo = plain): void {
    this.closeServer();
    if (this.server?.alive === true) this.send(this.down, this.client, cargo, deliver, "last");
  }

  /** The client goes away; the server hears of it one latency later. */
  cancel(): void {
    if (!this.clientOpen) return;
    this.closeClient();
    this.tellServer();
  }

  /** The network has cut or silenced one of the two links. */
  lose(link: Link, noticed: boolean): void {
    if (link === this.up.link) this.up.lost = true;
    if (link === this.down.link) this.down.lost = true;
    // A request that was lost on its way will never be accepted.
    if (this.up.lost && this.serverState === "awaited") this.closeServer();
    if (noticed) this.detect();
  }

  /** The client's crash takes the request back; the server's is told to the client. Of one that calls itself, first the one, then the other. */
  crashed(process: Process): void {
    if (process === this.client && (this.clientOpen || process !== this.server)) return this.cancel();
    this.closeServer();
    this.tellClient("disconnected");
  }

  private connect(server: Process, service: Service): void {
    this.serverSeat = server.joinCrash(this);
    if (this.up.lost) this.closeServer();
    this.send(this.up, server, this.request, () => {
      this.serverState = "open";
      this.ends.accepted(service);
    });
    if (this.ends.repeated === undefined || !isDoubled(this.up.link)) return;
    this.network.witness?.mark("request.doubled");
    this.send(this.up, server, this.request, () => this.ends.repeated?.(service));
  }

  /** Nobody listens: a reset comes back after a round trip. */
  private refuse(): void {
    this.closeServer();
    if (this.up.lost) return;
    this.tellClient("refused", drawDelay(this.up.link, this.client.clock.nowMicros(), reset) ?? 0);
  }

  private tellClient(failure: CallFailure, delayMicros: Micros = 0): void {
    this.send(this.down, this.client, reset, () => this.ends.clientLost(failure), "last", delayMicros);
  }

  private tellServer(): void {
    if (this.server === undefined) return;
    this.send(this.up, this.server, farewell, () => {
      if (this.serverState !== "open") return;
      this.closeServer();
      this.ends.serverLost();
    });
  }

  /** Each end that is still there notices by itself, and tells the other if that can be done. */
  private detect(): void {
    if (this.detecting) return;
    this.detecting = true;
    const { detectMicros } = this.network;
    if (this.clientOpen) {
      this.cancelClientDetection = this.client.clock.after(detectMicros, () => {
        this.cancel();
        this.ends.clientLost("disconnected");
      });
    }
    if (this.serverState === "closed") return;
    this.cancelServerDetection = (this.server as Process).clock.after(detectMicros, () => {
      if (this.serverState !== "open") return;
      this.closeServer();
      this.ends.serverLost();
      this.tellClient("disconnected");
    });
  }

  private closeClient(): void {
    this.clientOpen = false;
    this.cancelClientDetection();
    this.client.forgetCrash(this.clientSeat);
    this.leaveIfOver();
  }

  private closeServer(): void {
    this.serverState = "closed";
    this.cancelServerDetection();
    if (this.serverSeat !== undefined) this.server?.forgetCrash(this.serverSeat);
    this.leaveIfOver();
  }

  private leaveIfOver(): void {
    if (this.clientOpen || this.serverState !== "closed") return;
    this.up.link.users.leave(this.seat);
  }

  /**
   * The message belongs to the process that it goes to: it dies with that one, not with its sender. What is `next` or `last`
   * for the client does not arrive once that has gone, and the last closes its end.
   */
  private send(
    lane: Lane,
    destination: Process,
    cargo: Cargo,
    deliver: () => void,
    forClient?: "next" | "last",
    extraMicros: Micros = 0,
  ): void {
    const { witness } = this.network;
    const { from, to } = lane.link;
    const now = destination.clock.nowMicros();
    const delay = lane.lost ? undefined : drawDelay(lane.link, now, cargo, witness);
    if (delay === undefined) {
      witness?.message(from, to, now, undefined, () => cargo.about());
      if (!lane.lost) {
        lane.lost = true;
        if (lane === this.up && this.serverState === "awaited") this.closeServer();
        this.detect();
      }
      return;
    }
    // A drawn latency may be shorter than that of the message before: the order is kept all the same.
    lane.readyAtMicros = Math.max(lane.readyAtMicros, now + extraMicros + delay);
    witness?.message(from, to, now, lane.readyAtMicros, () => cargo.about());
    destination.clock.after(lane.readyAtMicros - now, () => {
      if (lane.lost || (forClient !== undefined && !this.clientOpen)) return;
      if (forClient === "last") this.closeClient();
      deliver();
    });
  }
}
