/** Calls of the image service. */
import { type CriAnswer, grpcCode } from "../../wire/cri.ts";
import type { AuthConfig } from "../../wire/cri-messages.ts";
import type { CallHandler } from "./container-calls.ts";
import { imageMessage, type ImageRow, INODES_OF_IMAGE } from "./images.ts";
import { imageMountpoint } from "./machine.ts";

type ImageMethod = "ListImages" | "ImageStatus" | "PullImage" | "RemoveImage" | "ImageFsInfo";

/** What asking a registry takes, before bytes come. */
const REGISTRY_MICROS = 200_000;

export const imageCalls: { readonly [M in ImageMethod]: CallHandler<M> } = {
  ListImages(state, { filter }, answer) {
    const name = filter?.image?.image ?? "";
    const named = name === "" ? undefined : state.images.find(name);
    const images = name === "" ? state.images.listed() : named === undefined ? [] : [imageMessage(named)];
    answer({ ok: true, message: { images } });
  },

  ImageStatus(state, { image, verbose = false }, answer) {
    const found = state.images.find(image?.image ?? "");
    const info =
      verbose && found !== undefined
        ? { info: JSON.stringify({ imageSpec: { config: { User: String(found.row.user ?? "") } } }) }
        : {};
    answer({ ok: true, message: found === undefined ? { info: {} } : { image: imageMessage(found), info } });
  },

  PullImage(state, { image, auth }, answer) {
    const name = image?.image ?? "";
    const found = state.images.offer(name);
    const offer = "error" in found || mayPull(found.row, auth) ? found : { error: deniedTo(name) };
    if ("error" in offer) {
      state.process.clock.after(REGISTRY_ERROR_MICROS, () =>
        answer({ ok: false, code: grpcCode.unknown, text: offer.error }),
      );
      return;
    }
    const waiting = state.pulls.get(name);
    const mine = answer as (answer: CriAnswer) => void;
    if (waiting !== undefined) {
      waiting.push(mine);
      return;
    }
    const waiters = [mine];
    state.pulls.set(name, waiters);
    const isHere = state.images.find(name) !== undefined;
    const bytes = isHere ? 0 : offer.sizeBytes;
    const micros = offer.row.pullMicros ?? Math.ceil((bytes * 1_000_000) / PULL_BYTES_PER_SECOND);
    state.process.clock.after(REGISTRY_MICROS + micros, () => {
      state.pulls.delete(name);
      let result: CriAnswer<"PullImage">;
      if (isHere || state.machine.hasRoom(state.machine.imageDisk, bytes, INODES_OF_IMAGE)) {
        result = { ok: true, message: { imageRef: state.images.add(name, offer.row).id } };
      } else {
        const text = `failed to pull and unpack image "${name}": failed to extract layer: write ${imageMountpoint}: no space left on device`;
        result = { ok: false, code: grpcCode.unknown, text };
      }
      for (const waiter of waiters) waiter(result);
    });
  },

  RemoveImage(state, { image }, answer) {
    const found = state.images.find(image?.image ?? "");
    if (found !== undefined) state.images.remove(found);
    answer({ ok: true, message: {} });
  },

  ImageFsInfo(state, _message, answer) {
    const usage = {
      timestamp: state.unixNanos(state.nowMicros),
      fsId: { mountpoint: imageMountpoint },
      usedBytes: { value: state.images.usedBytes },
      inodesUsed: { value: state.images.stored.size * INODES_OF_IMAGE },
    };
    answer({ ok: true, message: { imageFilesystems: [usage], containerFilesystems: [usage] } });
  },
};

function mayPull({ credentials }: ImageRow, auth: AuthConfig | undefined): boolean {
  if (credentials === undefined) return true;
  return auth?.username === credentials.username && auth.password === credentials.password;
}

const deniedTo = (name: string): string =>
  `failed to pull and unpack image "${name}": failed to resolve reference "${name}": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`;

const REGISTRY_ERROR_MICROS = 5000;
const PULL_BYTES_PER_SECOND = 50_000_000;
