// What commands say where there is nothing that they could be about: how one gets servers.

export const NO_SERVERS = `No servers are configured: add one under "mcpServers" in switchboard.config.json,
or take over those of a host: switchboard import <file>`;
