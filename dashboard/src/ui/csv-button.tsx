import { useMutation } from '@tanstack/react-query'
import { adviceFor, messageOf } from '../api/advice.ts'
import { chosenWorkspace } from '../api/chosen-workspace.ts'
import { toApiError, unreachable } from '../api/error.ts'
import { saveFile } from '../lib/save-file.ts'
import { Button } from './button.tsx'
import { announce } from './toast.tsx'

type Props = { path: string; query: Readonly<Record<string, string | readonly string[] | undefined>>; name: string }

const download = async (path: string, query: Props['query']): Promise<Blob> => {
  const params = new URLSearchParams(Object.entries(query).flatMap(([key, value]) => (value ? [[key, String(value)]] : [])))
  const headers = { accept: 'text/csv', ...(chosenWorkspace() && { 'Workspace-Id': chosenWorkspace() ?? '' }) }
  const response = await fetch(`${path}?${params}`, { headers }).catch(() => {
    throw unreachable()
  })
  if (!response.ok)
    throw toApiError(response.status, await response.json().catch(() => null), response.headers.get('x-request-id'))
  return response.blob()
}

/** Everything that the filters match, not only the pages that are shown. */
export const CsvButton = ({ path, query, name }: Props) => {
  const save = useMutation({
    mutationFn: () => download(path, query),
    onSuccess: (file) => saveFile(`${name}.csv`, file),
    onError: (error) => announce(`${messageOf(error)} ${adviceFor(error)}`, 'bad'),
  })
  return (
    <Button icon="download" busy={save.isPending} onClick={() => save.mutate()}>
      Export CSV
    </Button>
  )
}
