/** A file that was planted, as the sensor left it. No content: what is read in the sensor's folder gives nothing away. */
// Over ten members: they are what `lstat` says.
export interface PlantedBait {
  bait_id: string;
  path: string;
  /** The file's identity and times, as decimal digits: they are larger than numbers may be. */
  dev: string;
  ino: string;
  size: string;
  mode: string;
  uid: string;
  gid: string;
  mtime_ns: string;
  ctime_ns: string;
  /** Armed: a read moves it. */
  atime_ns: string;
  sha256: string;
  seen_by: BaitSign[];
  /** The service knows that it is planted. */
  confirmed: boolean;
}

/** By what a read is seen: by the time of the last access at the next look, or at once. */
export type BaitSign = 'atime' | 'inotify';

export interface BaitRead {
  bait_id: string;
  read_at: string;
  seen: BaitSign;
  /** The same in each attempt to tell of it. */
  event: string;
}

export interface BaitNotes {
  /** The endpoint of the bait; null if none was planted. */
  endpoint_id: string | null;
  planted: PlantedBait[];
  /** Reads that the service does not know yet. */
  reads: BaitRead[];
}
