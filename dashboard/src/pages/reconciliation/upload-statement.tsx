import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { countWords } from '../../lib/list-words.ts'
import { readTextFile } from '../../lib/text-file.ts'
import { Button, Submit } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'

/** Compares a statement that the provider's portal has exported. Whoever uploads it may have written it, so nothing is booked by it. */
export const UploadStatement = ({ onClose }: { onClose: () => void }) => {
  const client = useQueryClient()
  const [file, setFile] = useState<{ name: string; text: string } | null>(null)
  const [problem, setProblem] = useState<string>()
  const choose = async (chosen: File | undefined) => {
    const text = chosen && (await readTextFile(chosen))
    setFile(chosen && typeof text === 'string' ? { name: chosen.name, text } : null)
    setProblem(typeof text === 'object' ? text.problem : undefined)
  }
  const compare = useMutation({
    mutationFn: ({ name, text }: { name: string; text: string }) =>
      call(api.POST('/v1/admin/reconciliations', { body: { source: name.slice(0, 120), statement: text } })),
    onSettled: () => {
      for (const name of ['reconciliations', 'differences']) void client.invalidateQueries({ queryKey: [name] })
    },
  })
  const run = compare.data
  return (
    <Dialog
      title="Compare a statement"
      onClose={onClose}
      onSubmit={() => {
        if (file && !compare.isPending && !run) compare.mutate(file)
      }}
      footer={
        run ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Submit busy={compare.isPending} disabled={!file}>
              Compare
            </Submit>
          </>
        )
      }
    >
      {run ? (
        <Notice tone={run.differences === 0 ? 'good' : 'warn'} title={`${run.matched} of ${run.lines} matched`} live>
          <p className="quiet">
            {run.differences === 0
              ? 'The statement and the books agree.'
              : `${countWords(run.differences, 'difference')} listed on this page.`}
          </p>
          {run.unproven && <p className="quiet">{run.unproven}</p>}
        </Notice>
      ) : (
        <div className="stack">
          <Field
            label="Statement"
            hint="The CSV file from the provider’s portal."
            error={problem ?? fieldError(compare.error, 'statement')}
          >
            {(wiring) => (
              <input
                {...wiring}
                className="input"
                type="file"
                accept=".csv,text/csv"
                onChange={(event) => void choose(event.target.files?.[0])}
              />
            )}
          </Field>
          <p className="quiet small">
            It is compared with the books, and nothing is booked. On the server,{' '}
            <CopyText value="npm run admin -- reconcile statement.csv" label="the command" /> takes a statement as evidence.
          </p>
          <Failure error={compare.error} />
        </div>
      )}
    </Dialog>
  )
}
