import { readFileSync } from 'node:fs';
import { Eta } from 'eta';
import { packageFile } from '../../../core/install-paths.ts';

/** @param name of a template in `templates/deploy`, without `.eta`. */
export function fillTemplate(name: string, words: object): string {
  const template = readFileSync(packageFile(`templates/deploy/${name}.eta`), 'utf8');
  return new Eta({ autoEscape: false, autoTrim: false }).renderString(template, words);
}

/** Quotes text in a form that is valid in YAML and JSON. */
export function quote(text: string): string {
  return JSON.stringify(text);
}
