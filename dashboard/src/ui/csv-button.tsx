import { chosenWorkspace } from '../api/chosen-workspace.ts'
import { reach, toApiError } from '../api/error.ts'
import { saveFile } from '../lib/text-file.ts'
import { Button } from './button.tsx'
import { useChange } from './form.tsx'

type Props = { path: string; query: Readonly<Record<string, unknown>>; name: string }

const download = async (path: string, query: Props['query']): Promise<Blob> => {
  const params = new URLSearchParams(Object.entries(query).flatMap(([key, value]) => (value ? [[key, String(value)]] : [])))
  const headers = { accept: 'text/csv', ...(chosenWorkspace() && { 'Workspace-Id': chosenWorkspace() ?? '' }) }
  const response = await reach(`${path}?${params}`, { headers })
  if (!response.ok)
    throw toApiError(response.status, await response.json().catch(() => null), response.headers.get('x-request-id'))
  return response.blob()
}

/** Everything that the filters match, not only the pages that are shown. */
export const CsvButton = ({ path, query, name }: Props) => {
  const save = useChange(() => download(path, query), {
    onDone: (file) => saveFile(`${name}.csv`, file),
    announcesFailure: true,
  })
  return (
    <Button icon="download" busy={save.isPending} onClick={() => save.mutate()}>
      Export CSV
    </Button>
  )
}
