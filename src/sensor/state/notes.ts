/** Planted file as the sensor left it, without its content, so that reading the sensor's folder reveals nothing. */
// Over ten members: they are what `lstat` says.
export interface PlantedBait {
  bait_id: string;
  path: string;
  /** Identity and times of the file as decimal digits, because they exceed safe integers. */
  dev: string;
  ino: string;
  size: string;
  mode: string;
  uid: string;
  gid: string;
  mtime_ns: string;
  ctime_ns: string;
  /** Access time as armed; a read moves it. */
  atime_ns: string;
  sha256: string;
  seen_by: BaitSign[];
  /** True if the service knows that the file is planted. */
  confirmed: boolean;
}

/** Sign of a read: a moved access time at the next inspection, or an immediate notification. */
export type BaitSign = 'atime' | 'inotify';

export interface BaitRead {
  bait_id: string;
  read_at: string;
  seen: BaitSign;
  /** Id of the read, equal in each attempt to report it. */
  event: string;
}

export interface BaitNotes {
  /** Endpoint of the bait; null if none was planted. */
  endpoint_id: string | null;
  planted: PlantedBait[];
  /** Reads that the service does not know yet. */
  reads: BaitRead[];
}
