import { readFileSync } from 'node:fs';
import { parseYaml } from '../encoding/yaml.ts';
import { packageFile } from '../package.ts';
import { type Texts, textsSchema } from './view/texts.ts';

const FILE = packageFile('templates/report/texts.yaml');

export function readTexts(): Texts {
  return parseYaml(textsSchema, readFileSync(FILE, 'utf8'), FILE);
}
