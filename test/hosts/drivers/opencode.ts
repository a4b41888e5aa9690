// OpenCode, headless: `opencode run`.
import { chat } from '../model/chat.ts';
import { type HostDriver, PROMPT, SERVER } from './driver.ts';

export const opencode: HostDriver = {
  id: 'opencode',
  api: chat,
  relists: true,
  cannot: {
    question: 'no support for elicitation',
  },
  notes: {},
  prepare({ project, program, modelUrl, entry, approval }) {
    const server =
      'url' in entry
        ? { type: 'remote', url: entry.url, headers: { Authorization: `Bearer ${entry.token}` } }
        : {
            type: 'local',
            command: [entry.command, ...entry.args],
            environment: entry.env,
            enabled: true,
          };
    project.write('opencode.json', {
      model: 'loopback/plain',
      small_model: 'loopback/plain',
      autoupdate: false,
      share: 'disabled',
      ...(approval === 'all' && { permission: { '*': 'allow' } }),
      provider: {
        loopback: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'sk-loopback' },
          models: {
            plain: {
              name: 'plain',
              attachment: true,
              modalities: { input: ['text', 'image'], output: ['text'] },
            },
          },
        },
      },
      mcp: { [SERVER]: server },
    });
    const folder = (name: string) => `${project.dir}/host/${name}`;
    return {
      command: program,
      args: ['run', ...(approval === 'plan' ? ['--agent', 'plan'] : []), PROMPT],
      env: {
        XDG_CONFIG_HOME: folder('config'),
        XDG_DATA_HOME: folder('data'),
        XDG_CACHE_HOME: folder('cache'),
        XDG_STATE_HOME: folder('state'),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
      },
    };
  },
  nameOf: (tool) => ({ tool: `${SERVER}_${tool}` }),
};
