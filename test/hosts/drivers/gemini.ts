// Gemini CLI, headless: `gemini -p`.
import { generateContent } from '../model/generate-content.ts';
import { type HostDriver, PROMPT, SERVER } from './driver.ts';

const HEADLESS = 'headless, it hides every MCP tool unless all are allowed';

export const gemini: HostDriver = {
  id: 'gemini',
  api: generateContent,
  relists: true,
  cannot: {
    question: 'no support for elicitation',
    defaultPolicy: HEADLESS,
    planMode: HEADLESS,
  },
  notes: {},
  prepare({ project, program, modelUrl, entry, approval }) {
    const server =
      'url' in entry
        ? { httpUrl: entry.url, headers: { Authorization: `Bearer ${entry.token}` } }
        : entry;
    project.write('.gemini/settings.json', {
      mcpServers: { [SERVER]: server },
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
    });
    const mode = { all: 'yolo', default: 'default', plan: 'plan' }[approval];
    return {
      command: process.execPath,
      args: [program, '-m', 'gemini-2.5-flash', '--approval-mode', mode, '-p', PROMPT],
      env: {
        GEMINI_API_KEY: 'loopback',
        GOOGLE_GEMINI_BASE_URL: modelUrl,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        GEMINI_CLI_NO_RELAUNCH: 'true', // it would restart itself with more memory
      },
    };
  },
  nameOf: (tool) => ({ tool: `mcp_${SERVER}_${tool}` }),
};
