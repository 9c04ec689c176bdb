/** `serve --data-dir`: what is stored outlives the process, and a start that is refused leaves nothing of itself. */
import { type DataDirectory, openDataDirectory, UnusableData } from "../../sim/disk/data-directory.ts";
import { RevisionStore } from "../../sim/store/revision-store.ts";
import { UsageError } from "../flags/usage-error.ts";
import { prepareFolder, removeFolders } from "../output/written-files.ts";

export interface ServedData extends Pick<DataDirectory, "openings" | "close"> {
  /** What is written to it before `keep` is on the disk with it, or never. */
  readonly store: RevisionStore;
  /** The start went well. Throws `UsageError` when it cannot be written. */
  keep(): void;
  /** The start was refused: all is as it was before. */
  abandon(): void;
}

/** Throws `UsageError`. */
export function dataIn(directory: string, profile: string): ServedData {
  const made = prepareFolder(directory, "--data-dir");
  try {
    const data = asUsage(() => openDataDirectory(directory, profile));
    data.begin();
    return {
      openings: data.openings,
      store: new RevisionStore({ restored: data.restored, journal: data }),
      keep: () => asUsage(() => data.keep()),
      abandon() {
        data.abandon();
        removeFolders(made);
      },
      close: () => data.close(),
    };
  } catch (error) {
    removeFolders(made);
    throw error;
  }
}

function asUsage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof UnusableData) throw new UsageError(`--data-dir: ${error.message}`);
    throw error;
  }
}
