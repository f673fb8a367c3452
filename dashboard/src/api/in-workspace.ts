/** For a request about a workspace other than this tab's. */
export const inWorkspace = (id: string) => ({ headers: { 'Workspace-Id': id } })
