import { documentKey } from '../../verifier/records/keys.ts';
import type { RunDocument, RunRecord } from '../../verifier/records/record.ts';
import type { Archive } from '../archive/archive.ts';
import type { Report } from '../report/reports.ts';
import type { Runtime } from './context.ts';
import { withFile } from './pieces.ts';

/** The archive that documents go to, and the folder where they are put together. */
interface Place {
  archive: Archive;
  runtime: Pick<Runtime, 'workDirectory'>;
}

/** Makes the reports of a run that is frozen and stores them. The same record gives the same bytes. */
export async function putReports(place: Place, record: RunRecord): Promise<RunDocument[]> {
  const { renderReports } = await import('../report/reports.ts');
  const documents: RunDocument[] = [];
  for await (const report of renderReports(record))
    documents.push(await putReport(place, documentKey(record.run_id, report.name), report));
  return documents;
}

/** Makes the report of a try that ended incomplete. @param prefix of the attempt. */
export async function putAttemptReport(place: Place, record: RunRecord, prefix: string): Promise<RunDocument> {
  const { renderAttemptReport } = await import('../report/reports.ts');
  const report = await renderAttemptReport(record);
  return putReport(place, `${prefix}${report.name}`, report);
}

function putReport({ archive, runtime }: Place, key: string, { name, pieces }: Report): Promise<RunDocument> {
  return withFile(runtime, name, pieces, async (file, content) => {
    const { version_id } = await archive.put(key, { file }, content);
    return { name, key, ...content, ...(version_id === undefined ? {} : { version_id }) };
  });
}
