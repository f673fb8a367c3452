import { useState } from 'react'
import { exampleList, type PaymentList, readList, readListFile } from '../../lib/payment-list.ts'
import { saveFile } from '../../lib/save-file.ts'
import { type Encoding, encodingsOf } from '../../lib/text-file.ts'
import { Button, Submit } from '../../ui/button.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Notice } from '../../ui/layout.tsx'

type Doubt = { file: File; encodings: Encoding[] }

/** A file, or what is copied from a spreadsheet. Where a file does not say how its letters are to be read, the person says which are right. */
export const ChooseList = ({ onRead }: { onRead: (list: PaymentList) => void }) => {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const [doubt, setDoubt] = useState<Doubt | null>(null)
  const read = async (content: string | File, charset?: string) => {
    const found = await (typeof content === 'string' ? readList(content) : readListFile(content, charset))
    if (!('problem' in found)) return onRead(found)
    const encodings = typeof content === 'string' || charset ? [] : await encodingsOf(content)
    setProblem(encodings.length > 0 ? undefined : found.problem)
    setDoubt(typeof content === 'string' || encodings.length === 0 ? null : { file: content, encodings })
  }
  return (
    <Form ready={text.trim() !== ''} onSubmit={() => void read(text)}>
      <Card
        footer={
          <Submit size="large" disabled={text.trim() === ''}>
            Continue
          </Submit>
        }
      >
        <div className="stack">
          <Field
            label="File"
            hint="Saved as CSV. The first row names the columns: name, phone and amount, and what else you need: narrative, reference. You can say here what other columns are."
            error={problem}
          >
            {(wiring) => (
              <input
                {...wiring}
                className="input"
                type="file"
                accept=".csv,.tsv,.txt,.xlsx,.xls,text/csv"
                onChange={({ target: { files } }) => void (files?.[0] && read(files[0]))}
              />
            )}
          </Field>
          {doubt && (
            <Notice tone="warn" title="This file does not say how its letters are written. Which line is right?" live>
              <ul>
                {doubt.encodings.map(({ charset, label, sample }) => (
                  <li key={charset}>
                    <p>
                      <bdi>{sample.slice(0, 80)}</bdi>
                    </p>
                    <Button size="small" onClick={() => void read(doubt.file, charset)}>
                      {`This one: ${label}`}
                    </Button>
                  </li>
                ))}
              </ul>
              <p className="quiet">None of them? Save the file as “CSV UTF-8” and choose it again.</p>
            </Notice>
          )}
          <TextArea
            label="Or paste the rows"
            mono
            value={text}
            onChange={setText}
            hint="Copied from a spreadsheet, with the first row."
          />
          <div>
            <Button
              size="small"
              icon="download"
              onClick={() => saveFile('salaries.csv', new Blob([exampleList], { type: 'text/csv' }))}
            >
              Download an example
            </Button>
          </div>
        </div>
      </Card>
    </Form>
  )
}
