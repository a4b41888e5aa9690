import { describeHost } from './describe-host.ts';
import { claude } from './drivers/claude.ts';
import { codex } from './drivers/codex.ts';

describeHost(codex, claude);
