// Requests that only a background process answers.

/** Asks it to pass on a request to its sessions. */
export const EACH_SESSION = 'each';
/** Asks it which projects its sessions belong to. */
export const SESSION_PROJECTS = 'projects';
