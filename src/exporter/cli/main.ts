import { nameCrashes } from '../../core/terminal/crash.ts';

nameCrashes('evidence');

await import('./commands.ts');
