import process from 'node:process';
import { nameCrashes } from '../core/terminal/crash.ts';
import { evidenceSensor } from './command-line.ts';

nameCrashes('evidence-sensor');
process.exitCode = await evidenceSensor(process.argv.slice(2), process.env);
