import type { Answer } from './double.ts';
import type { StoredVersion } from './objects.ts';
import type { Call } from './operations.ts';
import { type Elements, Refusal, toDocument } from './protocol.ts';

/** Returns an encoder of names, as the client requested. */
function encoderOf(query: URLSearchParams): (name: string) => string {
  return query.get('encoding-type') === 'url'
    ? (name) => encodeURIComponent(name).replaceAll('%20', '+')
    : (name) => name;
}

export function listVersions({ bucket, behaviour, query }: Call): Answer {
  if (!behaviour.listsVersions) throw new Refusal(501, 'NotImplemented');
  const encode = encoderOf(query);
  const prefix = query.get('prefix') ?? '';
  const all = bucket
    .sortedNames()
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => versionsOf(name, bucket.names.get(name) ?? []));
  const start = after(all, query.get('key-marker'), query.get('version-id-marker'));
  const page = all.slice(start, start + behaviour.pageSize);
  const last = page.at(-1);
  const truncated = start + page.length < all.length;
  const entry = ({ name, version, latest }: (typeof all)[number]): Elements => ({
    Key: encode(name),
    VersionId: version.id,
    IsLatest: latest,
    LastModified: version.modified.toISOString(),
    ...(version.marker ? {} : { ETag: version.etag, Size: version.bytes }),
  });
  return {
    body: toDocument({
      ListVersionsResult: {
        IsTruncated: truncated,
        ...(truncated && last !== undefined
          ? { NextKeyMarker: encode(last.name), NextVersionIdMarker: last.version.id }
          : {}),
        Version: page.filter(({ version }) => !version.marker).map(entry),
        DeleteMarker: page.filter(({ version }) => version.marker).map(entry),
      },
    }),
  };
}

function versionsOf(name: string, versions: readonly StoredVersion[]) {
  return versions.toReversed().map((version, at) => ({ name, version, latest: at === 0 }));
}

function after(all: ReturnType<typeof versionsOf>, name: string | null, versionId: string | null): number {
  if (name === null) return 0;
  const at = all.findLastIndex(
    (entry) => entry.name === name && (versionId === null || entry.version.id === versionId),
  );
  if (at < 0) throw new Refusal(400, 'InvalidArgument', 'marker');
  return at + 1;
}

export function listObjects({ bucket, behaviour, query }: Call): Answer {
  const encode = encoderOf(query);
  const prefix = query.get('prefix') ?? '';
  const all = bucket.sortedNames().filter((name) => name.startsWith(prefix) && bucket.current(name) !== undefined);
  const token = query.get('continuation-token');
  const start = token === null ? 0 : all.indexOf(token) + 1;
  const page = all.slice(start, start + behaviour.pageSize);
  const truncated = start + page.length < all.length;
  return {
    body: toDocument({
      ListBucketResult: {
        IsTruncated: truncated,
        ...(truncated ? { NextContinuationToken: page.at(-1) ?? '' } : {}),
        Contents: page.map((name) => ({ Key: encode(name), Size: bucket.current(name)?.bytes ?? 0 })),
      },
    }),
  };
}

export function listUploads({ bucket, behaviour, query }: Call): Answer {
  if (!behaviour.listsUploads) throw new Refusal(403, 'AccessDenied');
  const prefix = query.get('prefix') ?? '';
  const uploads = [...bucket.uploads.values()].filter(({ name }) => name.startsWith(prefix));
  return {
    body: toDocument({
      ListMultipartUploadsResult: {
        IsTruncated: false,
        Upload: uploads.map(({ name, id, begun }) => ({ Key: name, UploadId: id, Initiated: begun.toISOString() })),
      },
    }),
  };
}
