import { describeHost } from './describe-host.ts';
import { codex } from './drivers/codex.ts';
import { opencode } from './drivers/opencode.ts';

describeHost(opencode, codex);
