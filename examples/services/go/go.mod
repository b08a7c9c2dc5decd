module example.com/shipping

go 1.22

require github.com/lib/pq v1.12.3
