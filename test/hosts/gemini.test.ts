import { describeHost } from './describe-host.ts';
import { claude } from './drivers/claude.ts';
import { gemini } from './drivers/gemini.ts';

describeHost(gemini, claude);
