import process from 'node:process';
import { nameCrashes } from '../core/terminal/crash.ts';
import { evidencePlatform } from './command-line.ts';

nameCrashes('evidence-platform');
process.exitCode = await evidencePlatform(process.argv.slice(2));
