import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '../api/api-client.ts';
import type { ApiProblem } from '../api/problem.ts';
import { asProblem, useLoad } from '../use-load.ts';
import { Show } from './loaded.tsx';
import { Problem } from './problem.tsx';

interface PagedProps<Row> {
  readonly load: (cursor: string | undefined) => Promise<Page<Row>>;
  /** The list begins anew when these change. */
  readonly inputs: readonly unknown[];
  readonly children: (rows: readonly Row[], reload: () => void) => ComponentChildren;
}

/** A list that is read page by page. */
export function Paged<Row>({ load, inputs, children }: PagedProps<Row>): ComponentChildren {
  const first = useLoad(() => load(undefined), inputs);
  return (
    <Show of={first}>
      {(page) => (
        <Further key={JSON.stringify(inputs)} first={page} load={load}>
          {(rows) => children(rows, first.reload)}
        </Further>
      )}
    </Show>
  );
}

interface FurtherProps<Row> {
  readonly first: Page<Row>;
  readonly load: PagedProps<Row>['load'];
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

function Further<Row>({ first, load, children }: FurtherProps<Row>): ComponentChildren {
  const [read, setRead] = useState<{ readonly of: Page<Row>; readonly pages: readonly Page<Row>[] }>({
    of: first,
    pages: [],
  });
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  // A first page that was read again starts the list over.
  const pages = [first, ...(read.of === first ? read.pages : [])];
  const last = pages.at(-1);
  const more = async (): Promise<void> => {
    try {
      const next = await load(last?.next_cursor ?? undefined);
      setRead({ of: first, pages: [...pages.slice(1), next] });
      setProblem(null);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <>
      {children(pages.flatMap(({ data }) => data))}
      {problem && <Problem problem={problem} />}
      {last?.has_more && (
        <p>
          <button type="button" onClick={() => void more()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
