-- The last candidates, whose ends the acceptance rate counts. It looked at the last verdicts before, among which one
-- that nobody could judge yet is missing.
CREATE INDEX journal_candidates ON journal (seq) WHERE kind = 'candidate';
DROP INDEX journal_verdicts;
