import { readFile } from 'node:fs/promises';
import { browserProgram, packageFile } from '../../../core/install-paths.ts';
import type { PageParts } from './document.ts';

let parts: Promise<PageParts> | undefined;

/** Read once, because from the sources the programs are built for it. */
export function readParts(): Promise<PageParts> {
  parts ??= read();
  return parts;
}

async function read(): Promise<PageParts> {
  const [charts, style, page, verifier] = await Promise.all([
    readFile(packageFile('templates/charts.css'), 'utf8'),
    readFile(packageFile('templates/report/report.css'), 'utf8'),
    browserProgram('page'),
    browserProgram('verifier'),
  ]);
  return { style: charts + style, page, verifier };
}
