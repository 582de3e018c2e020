import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { packageFile } from '../../core/install-paths.ts';
import { parseYaml } from '../../core/yaml.ts';
import { type LetterTexts, letterTextsSchema } from './view/letter.ts';
import { type Texts, textsSchema } from './view/texts.ts';

export function readTexts(): Texts {
  return read('templates/report/texts.yaml', textsSchema);
}

export function readLetterTexts(): LetterTexts {
  return read('templates/report/letter.yaml', letterTextsSchema);
}

function read<T>(name: string, schema: z.ZodType<T>): T {
  const file = packageFile(name);
  return parseYaml(schema, readFileSync(file, 'utf8'), file);
}
