-- Names the history where the database now lives. There are no earlier leases.
update coherence_seq set named_in = coherence_place(), adopted = marker::text;
