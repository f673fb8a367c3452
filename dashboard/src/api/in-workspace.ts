/** For a request about another workspace than the one that this tab shows. */
export const inWorkspace = (id: string) => ({ headers: { 'Workspace-Id': id } })
